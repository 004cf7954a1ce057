/**
 * The engine raises MongoDB's errors as SQLSTATEs of its own, numbered in the order of its error list;
 * PostgreSQL's own appear beside them.
 */
const engineCodes: Record<string, number> = {
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
}

/** PostgreSQL's own, and those of the gateway's functions: see prepare-database.ts. */
const postgresCodes: Record<string, number> = {
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

const names = new Map([
  [1, 'InternalError'],
  [2, 'BadValue'],
  [9, 'FailedToParse'],
  [11, 'UserNotFound'],
  [13, 'Unauthorized'],
  [14, 'TypeMismatch'],
  [15, 'Overflow'],
  [17, 'ProtocolError'],
  [20, 'IllegalOperation'],
  [22, 'InvalidBSON'],
  [24, 'LockTimeout'],
  [26, 'NamespaceNotFound'],
  [27, 'IndexNotFound'],
  [28, 'PathNotViable'],
  [34, 'CannotBackfillArray'],
  [40, 'ConflictingUpdateOperators'],
  [43, 'CursorNotFound'],
  [48, 'NamespaceExists'],
  [50, 'MaxTimeMSExpired'],
  [52, 'DollarPrefixedFieldName'],
  [56, 'EmptyFieldName'],
  [57, 'DottedFieldName'],
  [59, 'CommandNotFound'],
  [66, 'ImmutableField'],
  [67, 'CannotCreateIndex'],
  [68, 'IndexAlreadyExists'],
  [72, 'InvalidOptions'],
  [73, 'InvalidNamespace'],
  [85, 'IndexOptionsConflict'],
  [86, 'IndexKeySpecsConflict'],
  [111, 'NotExactValueField'],
  [112, 'WriteConflict'],
  [115, 'CommandNotSupported'],
  [117, 'ConflictingOperationInProgress'],
  [121, 'DocumentValidationFailure'],
  [146, 'ExceededMemoryLimit'],
  [166, 'CommandNotSupportedOnView'],
  [197, 'InvalidIndexSpecificationOption'],
  [224, 'QueryFeatureNotAllowed'],
  [225, 'TransactionTooOld'],
  [237, 'CursorInUse'],
  [241, 'ConversionFailure'],
  [251, 'NoSuchTransaction'],
  [256, 'TransactionCommitted'],
  [262, 'ExceededTimeLimit'],
  [263, 'OperationNotSupportedInTransaction'],
  [276, 'IndexBuildAborted'],
  [291, 'NoQueryExecutionPlans'],
  [10107, 'NotWritablePrimary'],
  [10334, 'BSONObjectTooLarge'],
  [11000, 'DuplicateKey'],
  [14031, 'OutOfDiskSpace'],
])

export const mongoCode = {
  internalError: 1,
  badValue: 2,
  failedToParse: 9,
  illegalOperation: 20,
  lockTimeout: 24,
  cursorNotFound: 43,
  commandNotFound: 59,
  writeConflict: 112,
  commandNotSupported: 115,
  transactionTooOld: 225,
  cursorInUse: 237,
  noSuchTransaction: 251,
  transactionCommitted: 256,
  exceededTimeLimit: 262,
  notSupportedInTransaction: 263,
  objectTooLarge: 10334,
  duplicateKey: 11000,
} as const

/** MongoDB's code for an SQLSTATE; InternalError for an unforeseen one. */
export function codeOfSqlState(sqlState: string): number {
  return engineCodes[sqlState] ?? postgresCodes[sqlState] ?? mongoCode.internalError
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
