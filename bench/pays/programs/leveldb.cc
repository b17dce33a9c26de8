// Writes, reads and scans a store in memory.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"
#include "helpers/memenv/memenv.h"

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
  leveldb::Options o;
  o.env = env.get();
  o.create_if_missing = true;
  o.write_buffer_size = 256 << 10;
  leveldb::DB* db;
  if (!leveldb::DB::Open(o, "/store", &db).ok()) return 1;
  unsigned s = 42;
  long found = 0;
  for (int i = 0; i < (other ? 3000 : 6000); i++) {
    s = s * 1103515245u + 12345u;
    std::string key = "key" + std::to_string(s % 5000);
    db->Put({}, key, std::string(40 + s % 60, 'a' + s % 26));
    if (other && i % 3 == 0) db->Delete({}, "key" + std::to_string(i));
  }
  std::string value;
  for (int i = 0; i < (other ? 2000 : 6000); i++) found += db->Get({}, "key" + std::to_string(i), &value).ok();
  for (int round = 0; round < (other ? 6 : 1); round++) {
    std::unique_ptr<leveldb::Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) found += it->value().size();
  }
  printf("%ld\n", found);
  delete db;
}
