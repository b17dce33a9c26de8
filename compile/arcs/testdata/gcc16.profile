;; Function f (f, funcdef_no=1, decl_uid=3155, cgraph_uid=2, symbol_order=1)

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
  int _31;
  int _32;
  int _33;
  int _34;
  int _35;

;;   basic block 2, loop depth 0, count 118111598 (estimated locally, freq 1.0000), maybe hot
;;    prev block 0, next block 3, flags: (NEW, REACHABLE, VISITED)
;;    pred:       ENTRY [always]  count:118111598 (estimated locally, freq 1.0000) (FALLTHRU,EXECUTABLE)
;; 
  [../a.c:5:3] # DEBUG BEGIN_STMT
  [../a.c:5:7] # DEBUG r => 0
  [../a.c:6:3] # DEBUG BEGIN_STMT
  [../a.c:6:8] # DEBUG BEGIN_STMT
  [../a.c:6:12] # DEBUG i => 0
  [../a.c:6:3] goto <bb 13>; [100.00%]
;;    succ:       13 [always]  count:118111598 (estimated locally, freq 1.0000) (FALLTHRU,EXECUTABLE) ../a.c:6:3

;;   basic block 3, loop depth 1, count 955630224 (estimated locally, freq 8.0909), maybe hot
;;    prev block 2, next block 4, flags: (NEW, REACHABLE, VISITED)
;;    pred:       13 [89.0% (guessed)]  count:955630224 (estimated locally, freq 8.0909) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 6
  [../a.c:6:33 discrim 1] # DEBUG BEGIN_STMT
  [../a.c:6:41 discrim 1] _1 = i_13 & 1;
  [../a.c:6:54 discrim 1] if (_1 != 0)
    goto <bb 4>; [50.00%]
  else
    goto <bb 7>; [50.00%]
;;    succ:       4 [50.0% (guessed)]  count:477815112 (estimated locally, freq 4.0455) (TRUE_VALUE,EXECUTABLE)
;;                7 [50.0% (guessed)]  count:477815112 (estimated locally, freq 4.0455) (FALSE_VALUE,EXECUTABLE)

;;   basic block 4, loop depth 1, count 477815112 (estimated locally, freq 4.0455), maybe hot
;;    prev block 3, next block 5, flags: (NEW, REACHABLE, VISITED)
;;    pred:       3 [50.0% (guessed)]  count:477815112 (estimated locally, freq 4.0455) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  # DEBUG x => i_13
  [../a.c:3:19] # DEBUG INLINE_ENTRY sq
  [../a.c:3:31] # DEBUG BEGIN_STMT
  [../a.c:3:34] if (i_13 > 10)
    goto <bb 5>; [51.12%]
  else
    goto <bb 6>; [48.88%]
;;    succ:       5 [51.1% (guessed)]  count:244259087 (estimated locally, freq 2.0680) (TRUE_VALUE,EXECUTABLE)
;;                6 [48.9% (guessed)]  count:233556025 (estimated locally, freq 1.9774) (FALSE_VALUE,EXECUTABLE)

;;   basic block 5, loop depth 1, count 244259087 (estimated locally, freq 2.0680), maybe hot
;;    prev block 4, next block 6, flags: (NEW, REACHABLE, VISITED)
;;    pred:       4 [51.1% (guessed)]  count:244259087 (estimated locally, freq 2.0680) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:43 discrim 1] # DEBUG BEGIN_STMT
  [../a.c:3:51 discrim 1] _31 = i_13 * i_13;
  [../a.c:3:51 discrim 1] goto <bb 7>; [100.00%]
;;    succ:       7 [always]  count:244259087 (estimated locally, freq 2.0680) (FALLTHRU,EXECUTABLE) ../a.c:3:51

;;   basic block 6, loop depth 1, count 233556025 (estimated locally, freq 1.9774), maybe hot
;;    prev block 5, next block 7, flags: (NEW, REACHABLE, VISITED)
;;    pred:       4 [48.9% (guessed)]  count:233556025 (estimated locally, freq 1.9774) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:55 discrim 2] # DEBUG BEGIN_STMT
  [../a.c:3:62 discrim 2] _32 = g (i_13);
;;    succ:       7 [always]  count:233556025 (estimated locally, freq 1.9774) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                EXIT [never (guessed)]  count:0 (estimated locally, freq 0.0000) (FAKE)

;;   basic block 7, loop depth 1, count 955630224 (estimated locally, freq 8.0909), maybe hot
;;    prev block 6, next block 8, flags: (NEW, REACHABLE, VISITED)
;;    pred:       6 [always]  count:233556025 (estimated locally, freq 1.9774) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                3 [50.0% (guessed)]  count:477815112 (estimated locally, freq 4.0455) (FALSE_VALUE,EXECUTABLE)
;;                5 [always]  count:244259087 (estimated locally, freq 2.0680) (FALLTHRU,EXECUTABLE) ../a.c:3:51
;;   starting at line 6
  # iftmp.0_14 = PHI <[../a.c:3:62 discrim 2] _32(6), [../a.c:6:54 discrim 3] 3(3), [../a.c:3:51 discrim 1] _31(5)>
  [../a.c:6:48 discrim 2] # DEBUG x => NULL
  [../a.c:6:35 discrim 4] r_28 = r_12 + iftmp.0_14;
  [../a.c:6:35 discrim 4] # DEBUG r => r_28
  [../a.c:6:59 discrim 4] # DEBUG BEGIN_STMT
  [../a.c:6:64 discrim 4] _2 = (sizetype) i_13;
  [../a.c:6:64 discrim 4] _3 = s_22(D) + _2;
  [../a.c:6:64 discrim 4] _4 = [../a.c:6:64] *_3;
  [../a.c:6:75 discrim 4] _5 = (unsigned char) _4;
  [../a.c:6:75 discrim 4] _6 = _5 + 159;
  [../a.c:6:62 discrim 4] if (_6 <= 1)
    goto <bb 8>; [41.00%]
  else
    goto <bb 12>; [59.00%]
;;    succ:       8 [41.0% (guessed)]  count:391808388 (estimated locally, freq 3.3173) (TRUE_VALUE,EXECUTABLE)
;;                12 [59.0% (guessed)]  count:563821836 (estimated locally, freq 4.7736) (FALSE_VALUE,EXECUTABLE)

;;   basic block 8, loop depth 1, count 391808389 (estimated locally, freq 3.3173), maybe hot
;;    prev block 7, next block 9, flags: (NEW, REACHABLE, VISITED)
;;    pred:       7 [41.0% (guessed)]  count:391808388 (estimated locally, freq 3.3173) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:6:91 discrim 5] # DEBUG BEGIN_STMT
  [../a.c:6:91 discrim 5] # DEBUG x => r_28
  [../a.c:3:19] # DEBUG INLINE_ENTRY sq
  [../a.c:3:31] # DEBUG BEGIN_STMT
  [../a.c:3:34] if (r_28 > 10)
    goto <bb 9>; [51.12%]
  else
    goto <bb 10>; [48.88%]
;;    succ:       9 [51.1% (guessed)]  count:200292450 (estimated locally, freq 1.6958) (TRUE_VALUE,EXECUTABLE)
;;                10 [48.9% (guessed)]  count:191515939 (estimated locally, freq 1.6215) (FALSE_VALUE,EXECUTABLE)

;;   basic block 9, loop depth 1, count 200292450 (estimated locally, freq 1.6958), maybe hot
;;    prev block 8, next block 10, flags: (NEW, REACHABLE, VISITED)
;;    pred:       8 [51.1% (guessed)]  count:200292450 (estimated locally, freq 1.6958) (TRUE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:43 discrim 1] # DEBUG BEGIN_STMT
  [../a.c:3:51 discrim 1] _33 = r_28 * r_28;
  [../a.c:3:51 discrim 1] goto <bb 11>; [100.00%]
;;    succ:       11 [always]  count:200292450 (estimated locally, freq 1.6958) (FALLTHRU,EXECUTABLE) ../a.c:3:51

;;   basic block 10, loop depth 1, count 191515939 (estimated locally, freq 1.6215), maybe hot
;;    prev block 9, next block 11, flags: (NEW, REACHABLE, VISITED)
;;    pred:       8 [48.9% (guessed)]  count:191515939 (estimated locally, freq 1.6215) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 3
  [../a.c:3:55 discrim 2] # DEBUG BEGIN_STMT
  [../a.c:3:62 discrim 2] _34 = g (r_28);
;;    succ:       11 [always]  count:191515939 (estimated locally, freq 1.6215) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;                EXIT [never (guessed)]  count:0 (estimated locally, freq 0.0000) (FAKE)

;;   basic block 11, loop depth 1, count 391808389 (estimated locally, freq 3.3173), maybe hot
;;    prev block 10, next block 12, flags: (NEW, REACHABLE, VISITED)
;;    pred:       9 [always]  count:200292450 (estimated locally, freq 1.6958) (FALLTHRU,EXECUTABLE) ../a.c:3:51
;;                10 [always]  count:191515939 (estimated locally, freq 1.6215) (FALLTHRU,EXECUTABLE) ../a.c:3:62
;;   starting at line 6
  # _35 = PHI <[../a.c:3:51 discrim 1] _33(9), [../a.c:3:62 discrim 2] _34(10)>
  [../a.c:6:96 discrim 5] # DEBUG x => NULL
  [../a.c:6:93 discrim 6] r_29 = r_28 ^ _35;
  [../a.c:6:93 discrim 6] # DEBUG r => r_29
;;    succ:       12 [always]  count:391808389 (estimated locally, freq 3.3173) (FALLTHRU,EXECUTABLE)

;;   basic block 12, loop depth 1, count 955630224 (estimated locally, freq 8.0909), maybe hot
;;    prev block 11, next block 13, flags: (NEW, REACHABLE, VISITED)
;;    pred:       7 [59.0% (guessed)]  count:563821836 (estimated locally, freq 4.7736) (FALSE_VALUE,EXECUTABLE)
;;                11 [always]  count:391808389 (estimated locally, freq 3.3173) (FALLTHRU,EXECUTABLE)
;;   starting at line 6
  # r_11 = PHI <[../a.c:6:35 discrim 4] r_28(7), [../a.c:6:93 discrim 6] r_29(11)>
  # DEBUG r => r_11
  [../a.c:6:27 discrim 7] # DEBUG BEGIN_STMT
  [../a.c:6:27 discrim 7] i_30 = i_13 + 1;
  [../a.c:6:27 discrim 7] # DEBUG i => i_30
;;    succ:       13 [always]  count:955630224 (estimated locally, freq 8.0909) (FALLTHRU,DFS_BACK,EXECUTABLE)

;;   basic block 13, loop depth 1, count 1073741824 (estimated locally, freq 9.0909), maybe hot
;;    prev block 12, next block 14, flags: (NEW, REACHABLE, VISITED)
;;    pred:       2 [always]  count:118111598 (estimated locally, freq 1.0000) (FALLTHRU,EXECUTABLE) ../a.c:6:3
;;                12 [always]  count:955630224 (estimated locally, freq 8.0909) (FALLTHRU,DFS_BACK,EXECUTABLE)
;;   starting at line 6
  # r_12 = PHI <[../a.c:5:7] 0(2), r_11(12)>
  # i_13 = PHI <[../a.c:6:12] 0(2), [../a.c:6:27 discrim 7] i_30(12)>
  # DEBUG i => i_13
  # DEBUG r => r_12
  [../a.c:6:21 discrim 8] # DEBUG BEGIN_STMT
  [../a.c:6:21 discrim 8] if (i_13 < n_21(D))
    goto <bb 3>; [89.00%]
  else
    goto <bb 14>; [11.00%]
;;    succ:       3 [89.0% (guessed)]  count:955630224 (estimated locally, freq 8.0909) (TRUE_VALUE,EXECUTABLE)
;;                14 [11.0% (guessed)]  count:118111600 (estimated locally, freq 1.0000) (FALSE_VALUE,EXECUTABLE)

;;   basic block 14, loop depth 0, count 118111600 (estimated locally, freq 1.0000), maybe hot
;;    prev block 13, next block 15, flags: (NEW, REACHABLE, VISITED)
;;    pred:       13 [11.0% (guessed)]  count:118111600 (estimated locally, freq 1.0000) (FALSE_VALUE,EXECUTABLE)
;;   starting at line 7
  [../a.c:7:3] # DEBUG BEGIN_STMT
  [../a.c:7:3] switch (n_21(D)) <default: <L14> [25.00%], [../a.c:7:16] case 1: <L8> [25.00%], [../a.c:7:37] case 2 ... 3: <L9> [25.00%], [../a.c:7:66] case 7: <L11> [25.00%]>
;;    succ:       18 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;                15 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;                16 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;                17 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)

;;   basic block 15, loop depth 0, count 29527900 (estimated locally, freq 0.2500), maybe hot
;;    prev block 14, next block 16, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;   starting at line 7
[../a.c:7:16 discrim 1] <L8>:
  [../a.c:7:24 discrim 1] # DEBUG BEGIN_STMT
  [../a.c:7:31 discrim 1] _27 = g (2);
  [../a.c:7:31 discrim 2] goto <bb 18>; [100.00%]
;;    succ:       18 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE) ../a.c:7:31
;;                EXIT [never (guessed)]  count:0 (estimated locally, freq 0.0000) (FAKE)

;;   basic block 16, loop depth 0, count 29527900 (estimated locally, freq 0.2500), maybe hot
;;    prev block 15, next block 17, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;   starting at line 7
[../a.c:7:37 discrim 3] <L9>:
  [../a.c:7:53 discrim 3] # DEBUG BEGIN_STMT
  [../a.c:7:60 discrim 3] _25 = g (9);
  [../a.c:7:60 discrim 4] goto <bb 18>; [100.00%]
;;    succ:       18 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE) ../a.c:7:60
;;                EXIT [never (guessed)]  count:0 (estimated locally, freq 0.0000) (FAKE)

;;   basic block 17, loop depth 0, count 29527900 (estimated locally, freq 0.2500), maybe hot
;;    prev block 16, next block 18, flags: (NEW, REACHABLE, VISITED)
;;    pred:       14 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;   starting at line 7
[../a.c:7:66 discrim 5] <L11>:
  [../a.c:7:74 discrim 5] # DEBUG BEGIN_STMT
  [../a.c:7:79 discrim 5] _7 = strlen (s_22(D));
  [../a.c:7:76 discrim 6] _8 = (unsigned int) _7;
  [../a.c:7:76 discrim 6] r.2_9 = (unsigned int) r_12;
  [../a.c:7:76 discrim 6] _10 = _8 + r.2_9;
  [../a.c:7:76 discrim 6] r_23 = (int) _10;
  [../a.c:7:76 discrim 6] # DEBUG r => r_23
;;    succ:       18 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE)

;;   basic block 18, loop depth 0, count 118111600 (estimated locally, freq 1.0000), maybe hot
;;    prev block 17, next block 1, flags: (NEW, REACHABLE, VISITED)
;;    pred:       15 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE) ../a.c:7:31
;;                16 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE) ../a.c:7:60
;;                17 [always]  count:29527900 (estimated locally, freq 0.2500) (FALLTHRU,EXECUTABLE)
;;                14 [25.0% (guessed)]  count:29527900 (estimated locally, freq 0.2500) (EXECUTABLE)
;;   starting at line -1
  # _15 = PHI <[../a.c:7:31 discrim 1] _27(15), [../a.c:7:60 discrim 3] _25(16), [../a.c:7:76 discrim 6] r_23(17), [../a.c:8:10] r_12(14)>
<L14>:
  # DEBUG r => NULL
  return _15;
;;    succ:       EXIT [always]  count:118111600 (estimated locally, freq 1.0000) (EXECUTABLE)

}
