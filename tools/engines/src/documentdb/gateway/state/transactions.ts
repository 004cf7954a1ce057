import { mongoCode } from '../errors/error-codes.ts'
import { ConnectionLost, MongoError, translateError } from '../errors/mongo-error.ts'
import type { Statement } from '../postgres/encode-request.ts'
import type { PostgresConnection, Row } from '../postgres/postgres-connection.ts'
import type { PostgresPool } from '../postgres/postgres-pool.ts'

export type Transaction = {
  session: string
  number: bigint
  connection: PostgresConnection
  startedAtMs: number
  /** Whether PostgreSQL knows of it: the first statement takes BEGIN along. */
  begun: boolean
  /** The statements of a transaction run one after the other; this is the last of them. */
  last: Promise<unknown>
}

type Outcome = 'committed' | 'aborted'

const transient = ['TransientTransactionError']
/** MongoDB's transactionLifetimeLimitSeconds. */
const lifetimeMsMax = 60_000
const outcomesMax = 20_000
const begin = { text: 'begin', parameters: [] }

/**
 * The settings of connections that serve transactions. Waiting longer for a row would let two transactions
 * hold each other up; the driver tries the loser again.
 */
export const transactionSettings = { default_transaction_isolation: 'repeatable read', lock_timeout: '25' }

/** Open transactions: each one session's, on a PostgreSQL connection of its own. */
export class Transactions {
  readonly #pool: PostgresPool
  readonly #open = new Map<string, Transaction>()
  readonly #ended = new Map<string, { number: bigint; outcome: Outcome }>()
  committed = 0
  aborted = 0

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  get size(): number {
    return this.#open.size
  }

  /** Begins a transaction; an older one of the same session ends. */
  async start(session: string, number: bigint, nowMs: number): Promise<Transaction> {
    const older = this.#open.get(session)
    if (older !== undefined) await this.#rollback(older)
    const connection = await this.#pool.acquire()
    const last = Promise.resolve()
    const transaction = { session, number, connection, startedAtMs: nowMs, begun: false, last }
    this.#open.set(session, transaction)
    return transaction
  }

  /** The open transaction a command says it belongs to. @throws MongoError NoSuchTransaction */
  find(session: string, number: bigint): Transaction {
    const transaction = this.#open.get(session)
    if (transaction === undefined || transaction.number !== number) throw noSuchTransaction(number, transient)
    return transaction
  }

  /**
   * Runs statements of a transaction after those before them, in one round trip: PostgreSQL keeps the order.
   * Any failure ends the transaction, as in MongoDB.
   */
  async run(transaction: Transaction, statements: readonly Statement[]): Promise<Row[][]> {
    const first = !transaction.begun
    transaction.begun = true
    const running = transaction.connection.batch(first ? [begin, ...statements] : statements)
    transaction.last = running.catch(() => {
      // reported to the caller below
    })
    try {
      const results = await running
      return first ? results.slice(1) : results
    } catch (error) {
      await this.fail(transaction)
      throw error
    }
  }

  /** Ends a transaction that met an error. */
  async fail(transaction: Transaction): Promise<void> {
    if (this.#open.get(transaction.session) === transaction) await this.#rollback(transaction)
  }

  /**
   * @throws MongoError NoSuchTransaction or WriteConflict with the label that makes the driver start over.
   */
  async commit(session: string, number: bigint): Promise<void> {
    const transaction = this.#open.get(session)
    if (transaction === undefined || transaction.number !== number) return this.#commitAgain(session, number)
    await transaction.last
    if (this.#open.get(session) !== transaction) throw noSuchTransaction(number, transient)
    this.#open.delete(session)
    try {
      await transaction.connection.batch([
        { text: rememberCommit, parameters: [Buffer.from(session, 'hex'), number] },
        { text: 'commit', parameters: [] },
      ])
    } catch (error) {
      if (error instanceof ConnectionLost) {
        // neither outcome is noted: only the table knows, and the driver will ask again
        transaction.connection.destroy()
        throw error
      }
      await this.#rollback(transaction)
      const translated = translateError(error, true)
      throw new MongoError(translated.code, translated.message, { labels: transient, cause: error })
    }
    this.#end(transaction, 'committed')
  }

  async abort(session: string, number: bigint): Promise<void> {
    const transaction = this.#open.get(session)
    if (transaction?.number === number) return this.#rollback(transaction)
    const ended = this.#ended.get(session)
    if (ended?.number !== number) throw noSuchTransaction(number, [])
    if (ended.outcome === 'committed') {
      throw new MongoError(mongoCode.TransactionCommitted, `Transaction ${number} has been committed`)
    }
  }

  async abortSession(session: string): Promise<void> {
    const transaction = this.#open.get(session)
    if (transaction !== undefined) await this.#rollback(transaction)
  }

  /** Ends transactions that have been open for longer than MongoDB would allow. */
  async abortExpired(nowMs: number): Promise<void> {
    const expired = [...this.#open.values()].filter(({ startedAtMs }) => nowMs - startedAtMs > lifetimeMsMax)
    await Promise.all(expired.map((transaction) => this.#rollback(transaction)))
  }

  /** PostgreSQL is gone, and every open transaction with it. */
  reset(): void {
    this.#open.clear()
    this.#ended.clear()
  }

  /**
   * A commit of something that is not open: repeated by the driver, or begun before a crash. The table knows.
   */
  async #commitAgain(session: string, number: bigint): Promise<void> {
    const ended = this.#ended.get(session)
    if (ended?.number === number && ended.outcome === 'committed') return
    if (ended?.number !== number) {
      const key = Buffer.from(session, 'hex')
      const [[committed] = []] = await this.#pool.use((connection) =>
        connection.query(wasCommitted, [key, number]),
      )
      if (committed?.readUInt8(0) === 1) return
    }
    throw noSuchTransaction(number, transient)
  }

  async #rollback(transaction: Transaction): Promise<void> {
    this.#open.delete(transaction.session)
    this.#end(transaction, 'aborted', false)
    try {
      await transaction.connection.simple('rollback')
    } catch (error) {
      transaction.connection.destroy()
      if (!(error instanceof ConnectionLost)) throw error
    } finally {
      this.#pool.release(transaction.connection)
    }
  }

  #end(transaction: Transaction, outcome: Outcome, release = true): void {
    this[outcome]++
    this.#ended.delete(transaction.session)
    this.#ended.set(transaction.session, { number: transaction.number, outcome })
    const oldest = this.#ended.keys().next()
    if (this.#ended.size > outcomesMax && !oldest.done) this.#ended.delete(oldest.value)
    if (release) this.#pool.release(transaction.connection)
  }
}

const rememberCommit = 'select pitboss_gateway.remember_commit($1, $2)'
const wasCommitted = 'select pitboss_gateway.was_committed($1, $2)'

function noSuchTransaction(number: bigint, labels: string[]): MongoError {
  const message = `Given transaction number ${number} does not match any in-progress transactions`
  return new MongoError(mongoCode.NoSuchTransaction, message, { labels })
}
