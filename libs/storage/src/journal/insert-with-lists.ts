import { type Collection, MongoServerError } from 'mongodb'
import type { Landed } from './group-commit.ts'
import {
  type AnsweredError,
  assertOnlyDuplicates,
  insertUnordered,
  writeConcernOf,
} from './insert-together.ts'
import type { NewListDocument } from './list-documents.ts'

type BulkAnswer = {
  readonly nInserted: number
  readonly cursor: { readonly firstBatch: readonly AnsweredError[] }
  readonly writeConcernError?: AnsweredError
}

/** Answers of a database that has no `bulkWrite`, or not for this login: Unauthorized, CommandNotFound, … */
const notServed: ReadonlySet<unknown> = new Set([13, 59, 115])

/**
 * Inserts documents, and list documents after them in the same command, so that one sync of the disk does for
 * both. The command is ordered: no list document stands without all documents before it. Where the database
 * cannot do that (MongoDB before 8.0, a sharded cluster, on which the two may be on different shards), only
 * the documents are inserted.
 * @returns a function that returns the fate of each document. It throws the driver's error when that is not
 *   known
 */
export function createInsertWithLists<Document extends { readonly _id: string }>(
  collection: Collection<Document>,
): (documents: readonly Document[], lists: readonly NewListDocument[]) => Promise<readonly Landed[]> {
  const { db } = collection
  const admin = db.admin()
  let isServed: boolean | null = null

  async function insertInTurn(documents: readonly Document[], lists: readonly NewListDocument[]) {
    isServed ??= (await admin.command({ hello: 1 })).msg !== 'isdbgrid'
    if (!isServed) return 0
    const names = [...new Set([collection.collectionName, ...lists.map((list) => list.collection)])]
    const ops = [
      ...documents.map((document) => ({ insert: 0, document })),
      ...lists.map((list) => ({ insert: names.indexOf(list.collection), document: list.document })),
    ]
    const command = {
      ...{ bulkWrite: 1, ops, nsInfo: names.map((name) => ({ ns: `${db.databaseName}.${name}` })) },
      ...{ ordered: true, errorsOnly: true, writeConcern: writeConcernOf(collection) },
    }
    const answer = (await admin.command(command, { ignoreUndefined: true })) as BulkAnswer
    assertOnlyDuplicates(answer.cursor.firstBatch, answer.writeConcernError)
    return answer.nInserted
  }

  return async (documents, lists) => {
    if (lists.length === 0 || isServed === false) return insertUnordered(collection, documents)
    const inserted = await insertInTurn(documents, lists).catch((error: unknown) => {
      if (!(error instanceof MongoServerError) || !notServed.has(error.code)) throw error
      isServed = false
      return 0
    })
    for (const list of lists.slice(0, Math.max(0, inserted - documents.length))) list.inserted()
    const landed: Landed[] = documents.slice(0, inserted).map(() => 'inserted')
    if (landed.length === documents.length) return landed
    return [...landed, ...(await insertUnordered(collection, documents.slice(inserted)))]
  }
}
