import { Binary } from 'bson'
import { isRecord } from '../bson/statement-at.ts'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import { type Command, type Engine, type Handler, ok } from './command.ts'
import { deleteInEngine } from './read-commands.ts'

export const commitTransaction: Handler = async (command, engine) => {
  const { session, number } = identity(command)
  await engine.transactions.commit(session, number)
  return ok
}

export const abortTransaction: Handler = async (command, engine) => {
  const { session, number } = identity(command)
  await engine.transactions.abort(session, number)
  return ok
}

/** Ends the sessions' open transactions and cursors. */
export const endSessions: Handler = async (command, engine) => {
  const sessions = sessionsOf(command)
  for (const session of sessions) await engine.transactions.abortSession(session)
  await deleteInEngine(engine, engine.cursors.removeOfSessions(sessions))
  return ok
}

/** Sessions need no refreshing here: what the gateway remembers of one outlives the drivers' half hour. */
export const refreshSessions: Handler = () => ok

/** Whether a command says that it is part of a transaction, as all but those that end one do. */
export function isInTransaction({ name, view }: Command): boolean {
  return view.boolean('autocommit') === false && !isEnd(name)
}

/** Finds or begins the transaction that a command says it is part of. */
export async function joinTransaction(command: Command, engine: Engine): Promise<void> {
  const { session, number } = identity(command)
  command.transaction =
    command.view.boolean('startTransaction') === true
      ? await engine.transactions.start(session, number, Date.now())
      : engine.transactions.find(session, number)
}

function isEnd(name: string): boolean {
  return name === 'commitTransaction' || name === 'abortTransaction'
}

function identity({ session, txnNumber }: Command): { session: string; number: bigint } {
  if (session === null || txnNumber === null) {
    throw new MongoError(mongoCode.badValue, 'a transaction needs lsid and txnNumber')
  }
  return { session, number: txnNumber }
}

function sessionsOf(command: Command): Set<string> {
  const listed = command.view.parse()[command.name]
  const ids = Array.isArray(listed) ? listed.filter(isRecord).map(({ id }) => id) : []
  return new Set(ids.filter((id) => id instanceof Binary).map((id) => id.toString('hex')))
}
