"""Slices of AutoFDO profiles for targets of C and C++."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME", "C_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

def _command(ctx, toolchain, context):
    """Returns the words of a command that compiles the sources."""
    is_c = all([src.extension == "c" for src in ctx.files.srcs])
    action = C_COMPILE_ACTION_NAME if is_c else CPP_COMPILE_ACTION_NAME
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    cpp = ctx.fragments.cpp
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        user_compile_flags = cpp.copts + (cpp.conlyopts if is_c else cpp.cxxopts) + ctx.attr.copts,
        include_directories = context.includes,
        quote_include_directories = context.quote_includes,
        system_include_directories = context.system_includes,
        preprocessor_defines = depset(ctx.attr.local_defines, transitive = [context.defines]),
    )
    tool = cc_common.get_tool_for_action(feature_configuration = features, action_name = action)
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = action,
        variables = variables,
    )
    return [tool] + options + ["-c"] + [src.path for src in ctx.files.srcs]

def _slice_path(name):
    """Returns where the target of a slice puts it, in its package."""
    return "%s.slices/slice.o.afdo" % name

def _stamp_path(name):
    """Returns where the header is that changes when the slice does."""
    return "%s.slices/slice.h" % name

def _afdo_slice_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    context = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context
    out = ctx.actions.declare_file(_slice_path(ctx.label.name))
    database = ctx.actions.declare_file(ctx.label.name + ".json")
    ctx.actions.write(database, struct(entries = [struct(
        # From the folder of the database to that in which compiles run.
        directory = "/".join([".."] * len(database.dirname.split("/"))),
        file = ctx.files.srcs[0].path,
        arguments = _command(ctx, toolchain, context) + ["-o", database.dirname + "/slice.o"],  # beside the database
    )]).to_json()[len('{"entries":'):-1])
    ctx.actions.run(
        mnemonic = "AfdoSlice",
        progress_message = "Slicing the profile for %s" % ctx.label,
        executable = ctx.executable.afdo,
        arguments = [
            "slice",
            ctx.file.profile.path,
            "--all",
            "-d",
            out.dirname,
            "--compile-commands",
            database.path,
            "--to",
            ctx.attr.format,
        ],
        inputs = depset(
            [ctx.file.profile, database] + ctx.files.srcs + ctx.files.hdrs,
            transitive = [context.headers, toolchain.all_files],
        ),
        outputs = [out],
        # The profile is large and new every day: it stays on this machine, and its slices go out.
        execution_requirements = {"no-remote": "1"},
    )
    stamp = ctx.actions.declare_file(_stamp_path(ctx.label.name))
    ctx.actions.run_shell(
        mnemonic = "AfdoStamp",
        command = 'set -- "$1" "$2" "$(sha256sum < "$1")" && echo "/* ${3%% *} */" > "$2"',
        arguments = [out.path, stamp.path],
        inputs = [out],
        outputs = [stamp],
    )
    return [DefaultInfo(files = depset([out, stamp]))]

afdo_slice = rule(
    implementation = _afdo_slice_impl,
    doc = "What the compiles of some sources need of a profile, as one file.",
    attrs = {
        "srcs": attr.label_list(allow_files = True, mandatory = True, allow_empty = False, doc = "sources, all C or all C++"),
        "hdrs": attr.label_list(allow_files = True, doc = "headers that are not of deps"),
        "deps": attr.label_list(providers = [CcInfo], doc = "libraries whose headers are included"),
        "copts": attr.string_list(doc = "options of the compiles"),
        "local_defines": attr.string_list(doc = "macros of the compiles"),
        "profile": attr.label(allow_single_file = True, mandatory = True),
        "format": attr.string(default = "v2", values = ["v2", "v3"], doc = "v2 for GCC 12 to 15, v3 for GCC 16"),
        "afdo": attr.label(executable = True, cfg = "exec", allow_files = True, mandatory = True, doc = "the command"),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def _linked_impl(ctx):
    compiled = ctx.attr.compiled
    return [
        DefaultInfo(files = compiled[DefaultInfo].files),
        CcInfo(
            compilation_context = ctx.attr.interface[CcInfo].compilation_context,
            linking_context = compiled[CcInfo].linking_context,
        ),
    ]

_linked = rule(
    implementation = _linked_impl,
    doc = "Libraries as those who depend on them see them: their slices are no inputs of other compiles.",
    attrs = {
        "compiled": attr.label(providers = [CcInfo], mandatory = True),
        "interface": attr.label(providers = [CcInfo], mandatory = True),
    },
)

def afdo_cc_library(name, srcs, profile, afdo, hdrs = [], deps = [], copts = [], local_defines = [], format = "v2", visibility = None, interface = {}, **kwargs):
    """A cc_library that is compiled with a slice of a profile.

    Args:
      name: of the library
      srcs: its sources, files of this package, all C or all C++
      profile: the profile, in any format that the command reads
      afdo: the command
      hdrs: as in cc_library
      deps: as in cc_library
      copts: as in cc_library
      local_defines: as in cc_library
      format: v2 for GCC 12 to 15, v3 for GCC 16
      visibility: as in cc_library
      interface: what goes to those who depend on the library, such as includes and defines
      **kwargs: other attributes of cc_library
    """
    part, outside, compiled = name + "_slice", name + "_interface", name + "_compiled"
    native.cc_library(name = outside, hdrs = hdrs, deps = deps, visibility = ["//visibility:private"], **interface)
    sources = [src for src in srcs if not _is_header(src)]
    afdo_slice(
        name = part,
        srcs = sources,
        hdrs = [src for src in srcs if _is_header(src)],
        deps = [outside],
        copts = copts,
        local_defines = local_defines,
        profile = profile,
        format = format,
        afdo = afdo,
        visibility = ["//visibility:private"],
    )
    folder = "$(BINDIR)/" + (native.package_name() + "/" if native.package_name() else "")
    native.cc_library(
        name = compiled,
        srcs = srcs,
        deps = [outside],
        textual_hdrs = [part],
        # Bazel forgets those inputs that the compiler does not name as headers, so one that it
        # names stands for the slice.
        copts = _BRANCHES + copts + ["-fauto-profile=" + folder + _slice_path(part), "-include", folder + _stamp_path(part)],
        local_defines = local_defines,
        visibility = ["//visibility:private"],
        **kwargs
    )
    _linked(name = name, interface = outside, compiled = compiled, visibility = visibility)

# With a profile, GCC takes more branches for predictable than are. "afdo exec" adds the same.
_BRANCHES = ["-fno-tracer", "--param=max-rtl-if-conversion-predictable-cost=40"]

def _is_header(src):
    return src.rpartition(".")[2] in ["h", "hh", "hpp", "hxx", "inc"]
