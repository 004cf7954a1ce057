import { deserialize } from 'bson'
import { BsonView, isRecord, isSingleStatement, statementAt, statementsField } from '../bson/bson-view.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { codeOfPacked, lostRace, MongoError, PostgresError } from '../errors/mongo-error.ts'
import { type Answer, type Command, type Engine, firstValue, type Handler, isTrue, query } from './command.ts'

export const attemptsMax = 10
/** Two upserts of one new key race to insert it; the loser finds it at the next attempt. */
const upsertAttemptsMax = 3

type Attempt = { answer: Answer; again: false } | { again: true; error: unknown }

const plain: Record<string, string> = {
  insert: 'select p_result, p_success from documentdb_api.insert($1, $2, $3)',
  update: 'select p_result, p_success from documentdb_api.update($1, $2, $3)',
  delete: 'select p_result, p_success from documentdb_api.delete($1, $2, $3)',
  findAndModify: 'select p_result, p_success from documentdb_api.find_and_modify($1, $2)',
}

const once: Record<string, string> = {
  insert: 'select p_result, p_success from pitboss_gateway.insert_once($1, $2, $3, $4, $5, $6)',
  update: 'select p_result, p_success from pitboss_gateway.update_once($1, $2, $3, $4, $5, $6)',
  delete: 'select p_result, p_success from pitboss_gateway.delete_once($1, $2, $3, $4, $5, $6)',
  findAndModify: 'select p_result, p_success from pitboss_gateway.find_and_modify_once($1, $2, $3, $4, $5)',
}

/** insert, update, delete and findAndModify. */
export const write: Handler = (command, engine) => {
  const { session, txnNumber, transaction } = command
  if (transaction !== null || session === null || txnNumber === null) return attempts(command, engine, null)
  return afterTwin(engine, `${session}:${txnNumber}`, () =>
    attempts(command, engine, { session: Buffer.from(session, 'hex'), number: txnNumber }),
  )
}

type RetryKey = { session: Buffer; number: bigint }

/**
 * A driver that lost its connection repeats a write that may still be running here: the repetition comes
 * after it.
 */
async function afterTwin(engine: Engine, key: string, work: () => Promise<Answer>): Promise<Answer> {
  for (let twin = engine.running.get(key); twin !== undefined; twin = engine.running.get(key)) {
    await Promise.allSettled([twin])
  }
  const running = work()
  engine.running.set(key, running)
  try {
    return await running
  } finally {
    engine.running.delete(key)
  }
}

/** Tries a write until it neither lost a deadlock nor an upsert's race: shared at first, then alone. */
async function attempts(command: Command, engine: Engine, retryKey: RetryKey | null): Promise<Answer> {
  if (command.transaction !== null) {
    const attempt = await attemptWrite(command, engine, null, attemptsMax)
    if (attempt.again) throw attempt.error
    return attempt.answer
  }
  const namespace = `${command.database}.${command.collection}`
  for (let number = 0; ; number++) {
    const attempt = await engine.gate.inside(namespace, number > 0, () =>
      attemptWrite(command, engine, retryKey, number),
    )
    if (!attempt.again) return attempt.answer
    if (number >= attemptsMax) throw attempt.error
  }
}

async function attemptWrite(
  command: Command,
  engine: Engine,
  retryKey: RetryKey | null,
  number: number,
): Promise<Attempt> {
  const rows = await runWrite(command, engine, retryKey).catch((error: unknown) => error)
  if (!Array.isArray(rows)) return afterFailure(command, rows, number)
  const answer = firstValue(rows)
  if (command.name === 'findAndModify' || isTrue(rows[0]?.[1])) return { answer, again: false }
  return afterWriteErrors(command, engine, answer, number)
}

function runWrite(command: Command, engine: Engine, retryKey: RetryKey | null) {
  const { database, name, view } = command
  const sequence = command.sequences.get(statementsField[name] ?? '') ?? null
  const target = name === 'findAndModify' ? [database, view.bytes] : [database, view.bytes, sequence]
  if (retryKey === null) return query(command, engine, plain[name] ?? '', target)
  const { session, number } = retryKey
  const key = [session, number, batchFlag(!isSingleStatement(command))]
  return query(command, engine, once[name] ?? '', [...target, ...key])
}

const batchFlag = (batch: boolean) => Buffer.from([batch ? 1 : 0])

/** The whole statement failed; nothing of it was written. */
function afterFailure(command: Command, error: unknown, number: number): Attempt {
  if (command.transaction !== null || !(error instanceof PostgresError)) throw error
  if (lostRace(error)) return { again: true, error }
  const duplicate = error.sqlState === '23505' || error.sqlState === '23P01' || error.sqlState === 'M001C'
  if (duplicate && number < upsertAttemptsMax && isUpsert(command)) return { again: true, error }
  throw error
}

/** Some statements failed: their codes are translated, and a single one may deserve another attempt. */
async function afterWriteErrors(
  command: Command,
  engine: Engine,
  answer: Buffer,
  number: number,
): Promise<Attempt> {
  const inTransaction = command.transaction !== null
  const { reply, writeErrors } = readReply(answer, inTransaction)
  const first = writeErrors[0]
  if (first === undefined) return { answer: reply, again: false }

  const failure = new MongoError(Number(first.code), String(first.errmsg))
  if (inTransaction) {
    if (first.code === mongoCode.WriteConflict) throw failure
  } else if (isSingleStatement(command)) {
    const conflict = first.code === mongoCode.WriteConflict && number < attemptsMax
    const raced = first.code === mongoCode.DuplicateKey && number < upsertAttemptsMax && isUpsert(command)
    if (conflict || raced) return { again: true, error: failure }
  }
  for (const writeError of writeErrors) await describeDuplicate(command, engine, writeError)
  if (command.transaction !== null) await engine.transactions.fail(command.transaction)
  return { answer: reply, again: false }
}

/** The engine's answer to a write, and what it says of statements that failed, with MongoDB's codes. */
export function readReply(answer: Buffer, inTransaction: boolean) {
  const reply: Record<string, unknown> = deserialize(answer, { promoteLongs: true })
  const writeErrors = Array.isArray(reply.writeErrors) ? reply.writeErrors.filter(isRecord) : []
  for (const writeError of writeErrors) writeError.code = codeOfPacked(Number(writeError.code), inTransaction)
  return { reply, writeErrors }
}

async function describeDuplicate(
  command: Command,
  engine: Engine,
  writeError: Record<string, unknown>,
): Promise<void> {
  if (writeError.code !== mongoCode.DuplicateKey) return
  const found = await engine.duplicateKeys.explain(
    command,
    String(writeError.errmsg),
    Number(writeError.index),
  )
  if (found !== null) Object.assign(writeError, found)
}

function isUpsert(command: Command): boolean {
  if (command.name === 'findAndModify') return command.view.boolean('upsert') === true
  if (command.name !== 'update' || !isSingleStatement(command)) return false
  const sequence = command.sequences.get('updates')
  if (sequence !== undefined) return new BsonView(sequence).boolean('upsert') === true
  const array = command.view.embedded('updates')
  const first = array === null ? null : new BsonView(array).embedded('0')
  return first !== null && new BsonView(first).boolean('upsert') === true
}

/** Details of the duplicate key for a failure of a whole command, if it is one. */
export async function withDuplicateDetails(
  command: Command,
  engine: Engine,
  error: MongoError,
): Promise<MongoError> {
  if (error.code !== mongoCode.DuplicateKey || command.collection === '') return error
  if (command.name !== 'findAndModify' && statementAt(command, 0) === null) return error
  const found = await engine.duplicateKeys.explain(command, error.message, 0)
  if (found === null) return error
  const { errmsg, ...fields } = found
  return new MongoError(error.code, errmsg, { labels: error.labels, fields, cause: error })
}
