import { tryAgain } from '@pitboss/errors/service-error'
import { type Collection, MongoServerError } from 'mongodb'
import { duplicateKey } from '../create-once.ts'
import { createGroupCommit, type Landed } from './group-commit.ts'

const answeredWithinMs = 10_000

/**
 * Gathers the inserts of one process into a collection, of all callers together (`createGroupCommit`).
 * @param bytesOf the size of a document, about
 * @returns a function that inserts documents and returns the fate of each. It throws ServiceError
 *   SERVICE_UNAVAILABLE when the database does not answer within 10 s: they may land until 30 s later
 */
export function createInsertTogether<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  bytesOf: (document: Document) => number,
  limits: { readonly documentsMax?: number; readonly commandsMax?: number } = {},
): (documents: readonly Document[]) => Promise<readonly Landed[]> {
  const group = createGroupCommit<Document>({
    insert: (documents) => insertUnordered(collection, documents),
    bytesOf,
    ...limits,
  })
  return async (documents) => {
    const landed = await group.insert(documents, performance.now() + answeredWithinMs)
    if (landed !== 'unknown') return landed
    throw tryAgain(`${collection.collectionName} did not take ${documents[0]?._id} in time`)
  }
}

/** An error within an answer of the database. */
export type AnsweredError = { readonly code: number; readonly errmsg: string }

type InsertAnswer = {
  readonly writeErrors?: readonly (AnsweredError & { readonly index: number })[]
  readonly writeConcernError?: AnsweredError
}

/** Inserts documents each by itself. @throws the driver's error when it is not known what of them stands */
export async function insertUnordered<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  documents: readonly Document[],
): Promise<readonly Landed[]> {
  const present = new Set(await insertByCommand(collection, documents, false))
  return documents.map((_, index) => (present.has(index) ? 'present' : 'inserted'))
}

/**
 * Inserts documents up to the first one that is there already.
 * @returns how many are inserted
 * @throws the driver's error when that is not known
 */
export async function insertOrdered<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  documents: readonly Document[],
): Promise<number> {
  const [present = documents.length] = await insertByCommand(collection, documents, true)
  return present
}

/** @throws MongoServerError when it is not known what of the documents stands */
export function assertOnlyDuplicates(
  writeErrors: readonly AnsweredError[],
  writeConcernError: AnsweredError | undefined,
): void {
  const failure = writeConcernError ?? writeErrors.find(({ code }) => code !== duplicateKey)
  if (failure !== undefined) throw new MongoServerError({ ...failure, message: failure.errmsg })
}

/** What a command of our own has to say of its durability. */
export function writeConcernOf<Document extends object>({ writeConcern }: Collection<Document>) {
  const { w, j, wtimeout } = writeConcern ?? {}
  return { ...{ w, j }, ...(wtimeout === undefined ? {} : { wtimeout }) }
}

/**
 * Inserts by one command of our own: the driver's bulk write takes a third more processor time.
 * @returns which were there already, by index
 */
async function insertByCommand<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
  documents: readonly Document[],
  ordered: boolean,
): Promise<readonly number[]> {
  const { collectionName, db } = collection
  const command = { insert: collectionName, documents, ordered, writeConcern: writeConcernOf(collection) }
  const answer = await db.command(command, { ignoreUndefined: true })
  const { writeErrors = [], writeConcernError }: InsertAnswer = answer
  assertOnlyDuplicates(writeErrors, writeConcernError)
  return writeErrors.map(({ index }) => index)
}
