import { MongoServerError } from 'mongodb'

/**
 * Inserts a document, or finds the one that was there first.
 * @param insert throws the database's duplicate key error when there is one already
 * @param find the one that was first; null when it is gone again, or when the key is another document's
 * @throws Error when the insert was refused and nothing is found
 */
export async function createOnce<Result>({
  insert,
  find,
  name,
}: {
  insert: () => Promise<Result>
  find: () => Promise<Result | null>
  /** Name of the created object, for the error. */
  name: string
}): Promise<{ result: Result; created: boolean }> {
  try {
    return { result: await insert(), created: true }
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  const present = await find()
  if (present === null) throw new Error(`${name} was refused as a duplicate and is not there`)
  return { result: present, created: false }
}

const duplicateKey = 11_000

/** Whether a write failed because a unique index has that value already. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey
}
