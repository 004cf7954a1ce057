/**
 * MongoDB's own limits, as `hello` announces them; the engine's own batch limit is the smaller one and wins.
 */
export const messageBytesMax = 48_000_000
export const documentBytesMax = 16 * 1024 * 1024
/** MongoDB lets a command be this much longer than the largest document it carries. */
export const commandBytesMax = documentBytesMax + 16 * 1024
export const writeBatchMax = 25_000
