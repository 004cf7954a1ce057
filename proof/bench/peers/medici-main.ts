import { Book, initModels, mongoTransaction } from 'medici'
import mongoose from 'mongoose'
import { runLoad } from '../src/harness/run-load.ts'
import { given, servePart } from '../src/harness/serve-part.ts'

/*
 * A ledger of medici: each movement is one entry with two lines, in a transaction as its README advises, since
 * without one a crash leaves lines that balance nothing. No wallet is called, no id is unique and no event is
 * published.
 */

const accounts = { player: 'Liabilities:Players', house: 'Assets:House' }
const amounts = { BET: 1, WIN: 1.98 }

await mongoose.connect(given('MONGODB_URL'), { dbName: 'peer_medici', w: 'majority', journal: true })
await initModels()
await mongoose.syncIndexes()
const book = new Book('movements')
let count = 0

async function move(caller: number): Promise<void> {
  const type = count++ % 2 === 0 ? 'BET' : 'WIN'
  const about = { transactionId: `${type}-${process.pid}-${count}`, playerId: `player-${caller}` }
  const [from, to] = type === 'BET' ? [accounts.player, accounts.house] : [accounts.house, accounts.player]
  await mongoTransaction((session) =>
    book.entry(type).debit(from, amounts[type], about).credit(to, amounts[type], about).commit({ session }),
  )
}

type Order = { concurrency: number; durationMs: number }
servePart({ ready: true }, (message) => runLoad({ ...(message as Order), work: move }))
