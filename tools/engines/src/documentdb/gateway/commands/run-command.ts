import { serialize } from 'bson'
import { BsonView } from '../bson/bson-view.ts'
import { codeName, mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import { errorReply, translateError } from '../errors/translate-error.ts'
import type { Message } from '../wire/decode-message.ts'
import { commandBytesMax } from '../wire/limits.ts'
import type { Answer, Command, Engine, Handler } from './command.ts'
import { aliases, handlers } from './handlers.ts'
import { isInTransaction, joinTransaction } from './session-commands.ts'
import { withDuplicateDetails } from './write-commands.ts'

export type RunCommandOptions = {
  message: Message
  client: Command['client']
  engine: Engine
  /** Called with unforeseen errors. */
  onInternalError: (command: string, error: MongoError) => void
}

/** Answered without PostgreSQL, so that drivers keep their connections while it restarts. */
const handshakes = new Set(['hello', 'isMaster', 'ismaster'])
const transientCodes = new Set<number>([
  mongoCode.lockTimeout,
  mongoCode.writeConflict,
  mongoCode.noSuchTransaction,
])

/**
 * Runs a command and gives its answer, whether it succeeded or failed.
 * @throws ConnectionLost when PostgreSQL went away and the outcome is unknown.
 */
export async function runCommand({
  message,
  client,
  engine,
  onInternalError,
}: RunCommandOptions): Promise<Buffer> {
  let command: Command | null = null
  let name = 'unknown'
  let failed = true
  try {
    command = readCommand(message, client)
    name = handlers.has(command.name) ? command.name : name
    const answer = await dispatch(command, message, engine)
    failed = false
    return toBytes(answer)
  } catch (error) {
    const translated = await describe(error, command, engine)
    if (translated.code === mongoCode.internalError) onInternalError(name, translated)
    return toBytes(errorReply(translated))
  } finally {
    countCommand(engine, name, failed)
  }
}

function dispatch(command: Command, message: Message, engine: Engine): Promise<Answer> | Answer {
  const handler = handlers.get(command.name)
  if (handler === undefined) {
    throw new MongoError(mongoCode.commandNotFound, `no such command: '${command.name}'`)
  }
  if (message.longestDocumentBytes > commandBytesMax) {
    throw new MongoError(mongoCode.objectTooLarge, `BSONObj size: ${message.longestDocumentBytes} is invalid`)
  }
  if (handshakes.has(command.name)) return handler(command, engine)
  // most commands need not wait here, and each wait costs
  if (engine.availability.isUp && !isInTransaction(command)) return handler(command, engine)
  return dispatchLater(handler, command, engine)
}

async function dispatchLater(handler: Handler, command: Command, engine: Engine): Promise<Answer> {
  await engine.availability.ready()
  if (isInTransaction(command)) await joinTransaction(command, engine)
  return handler(command, engine)
}

function readCommand(message: Message, client: Command['client']): Command {
  const view = new BsonView(message.body)
  const given = view.first?.name ?? ''
  const lsid = view.embedded('lsid')
  return {
    name: aliases.get(given) ?? given,
    database: view.string('$db') ?? 'admin',
    collection: given === 'getMore' ? (view.string('collection') ?? '') : (view.string(given) ?? ''),
    view,
    sequences: message.sequences,
    session: lsid === null ? null : (new BsonView(lsid).binary('id')?.toString('hex') ?? null),
    txnNumber: view.integer('txnNumber'),
    transaction: null,
    client,
  }
}

async function describe(error: unknown, command: Command | null, engine: Engine): Promise<MongoError> {
  if (command === null) return translateError(error, false)
  const { transaction } = command
  if (transaction !== null) await engine.transactions.fail(transaction)
  const translated = await withDuplicateDetails(command, engine, translateError(error, transaction !== null))
  if (transaction === null || !transientCodes.has(translated.code)) return translated
  const { code, message, fields } = translated
  return new MongoError(code, message, { labels: ['TransientTransactionError'], fields, cause: error })
}

function toBytes(answer: Answer): Buffer {
  return Buffer.isBuffer(answer) ? answer : Buffer.from(serialize(answer, { ignoreUndefined: true }))
}

function countCommand(engine: Engine, name: string, failed: boolean): void {
  const counted = engine.info.commands.get(name) ?? { total: 0, failed: 0 }
  counted.total++
  if (failed) counted.failed++
  engine.info.commands.set(name, counted)
}

/** One line for the log. */
export function describeInternalError(command: string, error: MongoError): Record<string, unknown> {
  return {
    event: 'command.failed',
    command,
    code: codeName(error.code),
    sql_state: error.sqlState,
    error: error.message,
  }
}
