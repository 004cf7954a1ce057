import type { Db } from 'mongodb'

type Document = { readonly _id: string; readonly s?: string }

/**
 * Removes rounds of a player, or all, as a database that was set back has lost them: list documents, entries
 * and claims, and the places of those that were lost before.
 */
export async function loseRounds(db: Db, playerId?: string, nonces?: readonly number[]): Promise<void> {
  const journal = db.collection<Document>('journal')
  const digits = nonces?.map((nonce) => String(nonce).padStart(10, '0')) ?? []
  const owner = playerId === undefined ? null : `/${encodeURIComponent(playerId)}/`
  const isLost = (claim: Document) =>
    claim._id.startsWith('n/') &&
    (owner === null || claim._id.includes(owner)) &&
    (nonces === undefined || digits.some((nonce) => claim._id.endsWith(`/${nonce}`)))
  const all = await journal.find({}).toArray()
  for (const { s: stream = '' } of all.filter(isLost)) {
    const gone = all.filter(({ _id, s }) => s === stream || _id.startsWith(`${stream}/`))
    await journal.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } })
  }
  await db.collection('rounds').deleteMany({
    ...(playerId === undefined ? {} : { playerId }),
    ...(nonces === undefined ? {} : { nonce: { $in: [...nonces] } }),
  })
}
