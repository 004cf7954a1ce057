import { serialize } from 'bson'
import { BsonView } from '../bson/bson-view.ts'
import { codeName, mongoCode } from '../errors/error-codes.ts'
import { errorReply, MongoError, translateError } from '../errors/mongo-error.ts'
import { commandBytesMax, type Message } from '../wire/messages.ts'
import { bulkWrite } from './bulk-write.ts'
import { collectionCommands } from './collection-commands.ts'
import { type Answer, type Command, type Engine, type Handler, transactionId } from './command.ts'
import { diagnosticCommands } from './diagnostic-commands.ts'
import { loginCommands, requireLogin } from './login-commands.ts'
import { readCommands } from './read-commands.ts'
import { sessionCommands } from './session-commands.ts'
import { withDuplicateDetails, write } from './write-commands.ts'

type RunCommandOptions = {
  message: Message
  client: Command['client']
  engine: Engine
  /** Called with a line about each unforeseen error. */
  log: (line: Record<string, unknown>) => void
}

/** Answered without PostgreSQL, so that drivers keep their connections while it restarts. */
const handshakes = new Set(['hello', 'isMaster', 'ismaster', ...Object.keys(loginCommands)])
const transientCodes = new Set<number>([
  mongoCode.LockTimeout,
  mongoCode.WriteConflict,
  mongoCode.NoSuchTransaction,
])

/**
 * Runs a command and gives its answer, whether it succeeded or failed.
 * @throws ConnectionLost when PostgreSQL went away and the outcome is unknown.
 */
export async function runCommand({ message, client, engine, log }: RunCommandOptions): Promise<Buffer> {
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
    const { code, sqlState, message: reason } = translated
    if (code === mongoCode.InternalError)
      log({
        event: 'command.failed',
        command: name,
        code: codeName(code),
        sql_state: sqlState,
        error: reason,
      })
    return toBytes(errorReply(translated))
  } finally {
    countCommand(engine, name, failed)
  }
}

function dispatch(command: Command, message: Message, engine: Engine): Promise<Answer> | Answer {
  const handler = handlers.get(command.name)
  if (handler === undefined) {
    throw new MongoError(mongoCode.CommandNotFound, `no such command: '${command.name}'`)
  }
  requireLogin(command)
  if (message.longestDocumentBytes > commandBytesMax) {
    throw new MongoError(
      mongoCode.BSONObjectTooLarge,
      `BSONObj size: ${message.longestDocumentBytes} is invalid`,
    )
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

/** Whether a command says that it is part of a transaction, as all but those that end one do. */
function isInTransaction({ name, view }: Command): boolean {
  return view.boolean('autocommit') === false && name !== 'commitTransaction' && name !== 'abortTransaction'
}

/** Finds or begins the transaction that a command says it is part of. */
async function joinTransaction(command: Command, engine: Engine): Promise<void> {
  const { session, number } = transactionId(command)
  command.transaction =
    command.view.boolean('startTransaction') === true
      ? await engine.transactions.start(session, number, Date.now())
      : engine.transactions.find(session, number)
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

/** Every command that is served, by its name; `listCommands` tells them. */
const handlers = new Map<string, Handler>(
  Object.entries({
    ...readCommands,
    ...collectionCommands,
    ...sessionCommands,
    ...diagnosticCommands,
    ...loginCommands,
  }),
)
for (const name of ['insert', 'update', 'delete', 'findAndModify']) handlers.set(name, write)
handlers.set('bulkWrite', bulkWrite)
handlers.set('listCommands', () => ({
  commands: Object.fromEntries([...handlers.keys()].map((name) => [name, { help: '' }])),
  ok: 1,
}))

/** Spellings that older shells and drivers use. */
const aliases = new Map([
  ['findandmodify', 'findAndModify'],
  ['buildinfo', 'buildInfo'],
  ['collstats', 'collStats'],
  ['dbstats', 'dbStats'],
  ['deleteIndexes', 'dropIndexes'],
])
