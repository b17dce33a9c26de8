package instrprof

// EncodedValues returns the value data of a record as indexed files hold it.
func EncodedValues(r Record) []byte { return r.values.append(nil, sameValue) }
