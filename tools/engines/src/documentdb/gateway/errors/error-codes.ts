/**
 * The engine raises MongoDB's errors as SQLSTATEs of its own, numbered in the order of its error list;
 * PostgreSQL's own appear beside them.
 */
const codes: Record<string, number> = {
  M0000: 1,
  M0001: 2,
  M0003: 9,
  M00ER: 13,
  M0004: 14,
  M0005: 15,
  M0006: 20,
  M00EW: 24,
  M0008: 26,
  M0009: 27,
  M000A: 28,
  M000C: 34,
  M000D: 40,
  M000E: 43,
  M000F: 48,
  M00EX: 50,
  M000G: 52,
  M000J: 56,
  M000K: 57,
  M00EY: 59,
  M000M: 66,
  M000N: 67,
  M000O: 68,
  M000P: 72,
  M000Q: 73,
  M000R: 85,
  M000S: 86,
  M000T: 111,
  M00F1: 112,
  M000U: 115,
  M00F2: 117,
  M00CO: 121,
  M000W: 146,
  M000Z: 166,
  M0011: 181,
  M0012: 197,
  M00F4: 201,
  M0013: 224,
  M0015: 241,
  M00F6: 251,
  M00F7: 256,
  M0016: 263,
  M0017: 276,
  M0018: 291,
  M001B: 10334,
  M001C: 11000,
  M007U: 40324,
  M0087: 40414,
  M0088: 40415,
  // PostgreSQL's own, and those of the gateway's functions: see prepare-database.ts
  PB001: 112,
  PB002: 225,
  '53100': 14031,
  '53200': 146,
  '23505': 11000,
  '23P01': 11000,
  '40001': 112,
  '40P01': 112,
  '55P03': 24,
  '57014': 50,
  '42P01': 26,
  '0A000': 115,
  '22P02': 9,
  '22023': 2,
  '25006': 10107,
  '25P02': 251,
  '42501': 13,
  '54000': 201,
}

/** MongoDB's codes by the names that it gives them. */
export const mongoCode = {
  InternalError: 1,
  BadValue: 2,
  FailedToParse: 9,
  UserNotFound: 11,
  Unauthorized: 13,
  TypeMismatch: 14,
  Overflow: 15,
  InvalidLength: 16,
  ProtocolError: 17,
  AuthenticationFailed: 18,
  IllegalOperation: 20,
  InvalidBSON: 22,
  LockTimeout: 24,
  NamespaceNotFound: 26,
  IndexNotFound: 27,
  PathNotViable: 28,
  CannotBackfillArray: 34,
  ConflictingUpdateOperators: 40,
  CursorNotFound: 43,
  NamespaceExists: 48,
  MaxTimeMSExpired: 50,
  DollarPrefixedFieldName: 52,
  EmptyFieldName: 56,
  DottedFieldName: 57,
  CommandNotFound: 59,
  ImmutableField: 66,
  CannotCreateIndex: 67,
  IndexAlreadyExists: 68,
  InvalidOptions: 72,
  InvalidNamespace: 73,
  IndexOptionsConflict: 85,
  IndexKeySpecsConflict: 86,
  NotExactValueField: 111,
  WriteConflict: 112,
  CommandNotSupported: 115,
  ConflictingOperationInProgress: 117,
  DocumentValidationFailure: 121,
  ExceededMemoryLimit: 146,
  CommandNotSupportedOnView: 166,
  InvalidIndexSpecificationOption: 197,
  QueryFeatureNotAllowed: 224,
  TransactionTooOld: 225,
  CursorInUse: 237,
  ConversionFailure: 241,
  NoSuchTransaction: 251,
  TransactionCommitted: 256,
  ExceededTimeLimit: 262,
  OperationNotSupportedInTransaction: 263,
  IndexBuildAborted: 276,
  NoQueryExecutionPlans: 291,
  NotWritablePrimary: 10107,
  BSONObjectTooLarge: 10334,
  DuplicateKey: 11000,
  OutOfDiskSpace: 14031,
} as const

const names = new Map<number, string>(Object.entries(mongoCode).map(([name, code]) => [code, name]))

/** MongoDB's code for an SQLSTATE; InternalError for an unforeseen one. */
export function codeOfSqlState(sqlState: string): number {
  return codes[sqlState] ?? mongoCode.InternalError
}

/** MongoDB's name of a code; codes without a name are called by their location, as MongoDB does. */
export function codeName(code: number): string {
  return names.get(code) ?? `Location${code}`
}

/**
 * The SQLSTATE that the engine packs into the codes inside its answers: six bits a character, first one
 * lowest.
 */
export function unpackSqlState(packed: number): string {
  let state = ''
  for (let character = 0; character < 5; character++) {
    state += String.fromCharCode(((packed >> (6 * character)) & 0x3f) + 48)
  }
  return state
}
