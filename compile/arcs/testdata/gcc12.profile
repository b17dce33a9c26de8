;; Function f (f, funcdef_no=1, decl_uid=2170, cgraph_uid=2, symbol_order=1)

int f (int n, const char * s)
{
  int i;
  int r;
  int _1;
  sizetype _2;
  const char * _3;
  char _4;
  unsigned char _5;
  unsigned char _6;
  long unsigned int _7;
  unsigned int _8;
  unsigned int r.2_9;
  unsigned int _10;
  int iftmp.0_14;
  int _15;
  int _25;
  int _27;
  int _32;
  int _33;
  int _34;
  int _35;
  int _36;

;;   basic block 2, loop depth 0, count 118111598 (estimated locally), maybe hot
;;    prev block 0, next block 3, flags: (NEW, REACHABLE, VISITED)
;;    pred:       ENTRY [always]  count:118111598 (estimated locally) (FALLTHRU,EXECUTABLE)
;; 
  [../a.c:5:3] # DEBUG BEGIN_STMT
  [../a.c:5:7] # DEBUG r => 0
  [../a.c:6:3] # DEBUG BEGIN_STMT
  [../a.c:6:8] # DEBUG BEGIN_STMT
  [../a.c:6:12] # DEBUG i => 0
  [../a.c:6:3] goto <bb 13>; [100.00%]
;;    succ:       13 [always]  count:118111598 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:6:3

;;   basic block 3, loop depth 1, count 955630225 (estimated locally), maybe hot
;;    prev block 2, next block 4, flags: (NEW, REACHABLE, VISITED)
;;    pred:       13 [89.0% (guessed)]  count:955630224 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 6, discriminator 10
  [../a.c:6:33] # DEBUG BEGIN_STMT
  [../a.c:6:41] _1 = i_13 & 1;
  [../a.c:6:54] if (_1 != 0)
    goto <bb 4>; [50.00%]
  else
    goto <bb 7>; [50.00%]
;;    succ:       4 [50.0% (guessed)]  count:477815113 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;                7 [50.0% (guessed)]  count:477815113 (estimated locally) (FALSE_VALUE,EXECUTABLE)

;;   basic block 4, loop depth 1, count 477815112 (estimated locally), maybe hot
;;    prev block 3, next block 5, flags: (NEW, REACHABLE, VISITED)
;;    pred:       3 [50.0% (guessed)]  count:477815113 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  # DEBUG x => i_13
  [../a.c:3:19] # DEBUG INLINE_ENTRY sq
  [../a.c:3:31] # DEBUG BEGIN_STMT
  [../a.c:3:34] if (i_13 > 10)
    goto <bb 5>; [51.12%]
  else
    goto <bb 6>; [48.88%]
;;    succ:       5 [51.1% (guessed)]  count:244259087 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;                6 [48.9% (guessed)]  count:233556025 (estimated locally) (FALSE_VALUE,EXECUTABLE)

;;   basic block 5, loop depth 1, count 244259087 (estimated locally), maybe hot
;;    prev block 4, next block 6, flags: (NEW, REACHABLE, VISITED)
;;    pred:       4 [51.1% (guessed)]  count:244259087 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:43] # DEBUG BEGIN_STMT
  [../a.c:3:51] _32 = i_13 * i_13;
  [../a.c:3:51] goto <bb 7>; [100.00%]
;;    succ:       7 [always]  count:244259087 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:51

;;   basic block 6, loop depth 1, count 233556025 (estimated locally), maybe hot
;;    prev block 5, next block 7, flags: (NEW, REACHABLE, VISITED)
;;    pred:       4 [48.9% (guessed)]  count:233556025 (estimated locally) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:55] # DEBUG BEGIN_STMT
  [../a.c:3:62] _33 = g (i_13);
;;    succ:       7 [always]  count:233556025 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                EXIT [never (guessed)]  count:0 (estimated locally) (FAKE)

;;   basic block 7, loop depth 1, count 955630225 (estimated locally), maybe hot
;;    prev block 6, next block 8, flags: (NEW, REACHABLE, VISITED)
;;    pred:       6 [always]  count:233556025 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                3 [50.0% (guessed)]  count:477815113 (estimated locally) (FALSE_VALUE,EXECUTABLE)
;;                5 [always]  count:244259087 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:51
;;   starting at line 6, discriminator 5
  # iftmp.0_14 = PHI <[../a.c:3:62] _33(6), [../a.c:6:54] 3(3), [../a.c:3:51] _32(5)>
  [../a.c:6:48] # DEBUG x => NULL
  [../a.c:6:35] r_29 = r_12 + iftmp.0_14;
  [../a.c:6:35] # DEBUG r => r_29
  [../a.c:6:59] # DEBUG BEGIN_STMT
  [../a.c:6:64] _2 = (sizetype) i_13;
  [../a.c:6:64] _3 = s_22(D) + _2;
  [../a.c:6:64] _4 = [../a.c:6:64] *_3;
  [../a.c:6:75] _5 = (unsigned char) _4;
  [../a.c:6:75] _6 = _5 + 159;
  [../a.c:6:62] if (_6 <= 1)
    goto <bb 8>; [41.00%]
  else
    goto <bb 12>; [59.00%]
;;    succ:       8 [41.0% (guessed)]  count:391808389 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;                12 [59.0% (guessed)]  count:563821836 (estimated locally) (FALSE_VALUE,EXECUTABLE)

;;   basic block 8, loop depth 1, count 391808389 (estimated locally), maybe hot
;;    prev block 7, next block 9, flags: (NEW, REACHABLE, VISITED)
;;    pred:       7 [41.0% (guessed)]  count:391808389 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:6:91] # DEBUG BEGIN_STMT
  [../a.c:6:91] # DEBUG x => r_29
  [../a.c:3:19] # DEBUG INLINE_ENTRY sq
  [../a.c:3:31] # DEBUG BEGIN_STMT
  [../a.c:3:34] if (r_29 > 10)
    goto <bb 9>; [51.12%]
  else
    goto <bb 10>; [48.88%]
;;    succ:       9 [51.1% (guessed)]  count:200292450 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;                10 [48.9% (guessed)]  count:191515939 (estimated locally) (FALSE_VALUE,EXECUTABLE)

;;   basic block 9, loop depth 1, count 200292450 (estimated locally), maybe hot
;;    prev block 8, next block 10, flags: (NEW, REACHABLE, VISITED)
;;    pred:       8 [51.1% (guessed)]  count:200292450 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:43] # DEBUG BEGIN_STMT
  [../a.c:3:51] _34 = r_29 * r_29;
  [../a.c:3:51] goto <bb 11>; [100.00%]
;;    succ:       11 [always]  count:200292450 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:51

;;   basic block 10, loop depth 1, count 191515939 (estimated locally), maybe hot
;;    prev block 9, next block 11, flags: (NEW, REACHABLE, VISITED)
;;    pred:       8 [48.9% (guessed)]  count:191515939 (estimated locally) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:55] # DEBUG BEGIN_STMT
  [../a.c:3:62] _35 = g (r_29);
;;    succ:       11 [always]  count:191515939 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                EXIT [never (guessed)]  count:0 (estimated locally) (FAKE)

;;   basic block 11, loop depth 1, count 391808389 (estimated locally), maybe hot
;;    prev block 10, next block 12, flags: (NEW, REACHABLE, VISITED)
;;    pred:       9 [always]  count:200292450 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:51
;;                10 [always]  count:191515939 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;   starting at line 6
  # _36 = PHI <[../a.c:3:51] _34(9), [../a.c:3:62] _35(10)>
  [../a.c:6:96] # DEBUG x => NULL
  [../a.c:6:93] r_30 = r_29 ^ _36;
  [../a.c:6:93] # DEBUG r => r_30
;;    succ:       12 [always]  count:391808389 (estimated locally) (FALLTHRU,EXECUTABLE)

;;   basic block 12, loop depth 1, count 955630225 (estimated locally), maybe hot
;;    prev block 11, next block 13, flags: (NEW, REACHABLE, VISITED)
;;    pred:       7 [59.0% (guessed)]  count:563821836 (estimated locally) (FALSE_VALUE,EXECUTABLE)
;;                11 [always]  count:391808389 (estimated locally) (FALLTHRU,EXECUTABLE)
;;   starting at line 6, discriminator 8
  # r_11 = PHI <[../a.c:6:35] r_29(7), [../a.c:6:93] r_30(11)>
  # DEBUG r => r_11
  [../a.c:6:27] # DEBUG BEGIN_STMT
  [../a.c:6:27] i_31 = i_13 + 1;
  [../a.c:6:27] # DEBUG i => i_31
;;    succ:       13 [always]  count:955630225 (estimated locally) (FALLTHRU,DFS_BACK,EXECUTABLE)

;;   basic block 13, loop depth 1, count 1073741824 (estimated locally), maybe hot
;;    prev block 12, next block 14, flags: (NEW, REACHABLE, VISITED)
;;    pred:       2 [always]  count:118111598 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:6:3
;;                12 [always]  count:955630225 (estimated locally) (FALLTHRU,DFS_BACK,EXECUTABLE)
;;   starting at line 6, discriminator 9
  # r_12 = PHI <[../a.c:5:7] 0(2), r_11(12)>
  # i_13 = PHI <[../a.c:6:12] 0(2), [../a.c:6:27] i_31(12)>
  # DEBUG i => i_13
  # DEBUG r => r_12
  [../a.c:6:21] # DEBUG BEGIN_STMT
  [../a.c:6:21] if (i_13 < n_21(D))
    goto <bb 3>; [89.00%]
  else
    goto <bb 14>; [11.00%]
;;    succ:       3 [89.0% (guessed)]  count:955630224 (estimated locally) (TRUE_VALUE,EXECUTABLE)
;;                14 [11.0% (guessed)]  count:118111600 (estimated locally) (FALSE_VALUE,EXECUTABLE)

;;   basic block 14, loop depth 0, count 118111600 (estimated locally), maybe hot
;;    prev block 13, next block 15, flags: (NEW, REACHABLE, VISITED)
;;    pred:       13 [11.0% (guessed)]  count:118111600 (estimated locally) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 7
  # r_28 = PHI <r_12(13)>
  [../a.c:7:3] # DEBUG BEGIN_STMT
  [../a.c:7:3] switch (n_21(D)) <default: <L14> [25.00%], [../a.c:7:16] case 1: <L8> [25.00%], [../a.c:7:37] case 2 ... 3: <L9> [25.00%], [../a.c:7:66] case 7: <L11> [25.00%]>
;;    succ:       18 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;                15 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;                16 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;                17 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)

;;   basic block 15, loop depth 0, count 29527900 (estimated locally), maybe hot
;;    prev block 14, next block 16, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;   starting at line 7, discriminator 1
[../a.c:7:16] <L8>:
  [../a.c:7:24] # DEBUG BEGIN_STMT
  [../a.c:7:31] _27 = g (2);
  [../a.c:7:31] goto <bb 18>; [100.00%]
;;    succ:       18 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:7:31
;;                EXIT [never (guessed)]  count:0 (estimated locally) (FAKE)

;;   basic block 16, loop depth 0, count 29527900 (estimated locally), maybe hot
;;    prev block 15, next block 17, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;   starting at line 7, discriminator 2
[../a.c:7:37] <L9>:
  [../a.c:7:53] # DEBUG BEGIN_STMT
  [../a.c:7:60] _25 = g (9);
  [../a.c:7:60] goto <bb 18>; [100.00%]
;;    succ:       18 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:7:60
;;                EXIT [never (guessed)]  count:0 (estimated locally) (FAKE)

;;   basic block 17, loop depth 0, count 29527900 (estimated locally), maybe hot
;;    prev block 16, next block 18, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;   starting at line 7, discriminator 3
[../a.c:7:66] <L11>:
  [../a.c:7:74] # DEBUG BEGIN_STMT
  [../a.c:7:79] _7 = strlen (s_22(D));
  [../a.c:7:76] _8 = (unsigned int) _7;
  [../a.c:7:76] r.2_9 = (unsigned int) r_28;
  [../a.c:7:76] _10 = _8 + r.2_9;
  [../a.c:7:76] r_23 = (int) _10;
  [../a.c:7:76] # DEBUG r => r_23
;;    succ:       18 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE)

;;   basic block 18, loop depth 0, count 118111600 (estimated locally), maybe hot
;;    prev block 17, next block 1, flags: (NEW, REACHABLE, VISITED)
;;    pred:       15 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:7:31
;;                16 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE) ../a.c:7:60
;;                17 [always]  count:29527900 (estimated locally) (FALLTHRU,EXECUTABLE)
;;                14 [25.0% (adjusted)]  count:29527900 (estimated locally) (EXECUTABLE)
;;   starting at line -1
  # _15 = PHI <[../a.c:7:31] _27(15), [../a.c:7:60] _25(16), [../a.c:7:76] r_23(17), r_28(14)>
<L14>:
  # DEBUG r => NULL
  return _15;
;;    succ:       EXIT [always]  count:118111600 (estimated locally) (EXECUTABLE)

}
