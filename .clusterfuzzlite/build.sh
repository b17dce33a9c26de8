#!/bin/bash -eu
# ClusterFuzzLite builds what OSS-Fuzz builds, but from the clone at hand.
exec "$SRC/afdo/fuzz/build.sh"
