/** One engine operation under test, done by `caller`, whichever way it goes to the database. */
export type Operations = {
  insert(caller: number): Promise<void>
  findById(caller: number): Promise<void>
  fencedUpdate(caller: number): Promise<void>
  page(caller: number): Promise<void>
  /** Three updates of three documents, committed together. */
  transaction(caller: number): Promise<void>
}

export const operationNames = ['insert', 'findById', 'fencedUpdate', 'page', 'transaction'] as const

/** Documents in the collections before anything is measured. */
export const seeded = {
  documents: 2000,
  pageDocuments: 5000,
  pageSize: 50,
  callers: 32,
  scope: 'bench/SANDBOX',
}

const padding = 'x'.repeat(220)

/** A document as large as a small round. */
export function newDocument(id: string, seq: number) {
  return {
    _id: id,
    version: 1,
    scope: seeded.scope,
    seq,
    note: padding,
    createdAt: new Date(),
    outbox: [],
    at: null,
  }
}

/** Documents that `caller` alone changes: three of them, so that a fence is never lost. */
export function ownIds(caller: number): [string, string, string] {
  return [`own-${caller}-0`, `own-${caller}-1`, `own-${caller}-2`]
}
