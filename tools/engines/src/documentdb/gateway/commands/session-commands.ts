import { Binary } from 'bson'
import { isRecord } from '../bson/bson-view.ts'
import {
  type Answer,
  type Command,
  deleteInEngine,
  type Engine,
  type Handler,
  ok,
  transactionId,
} from './command.ts'

/** Commands about sessions and the ends of their transactions, by name. */
export const sessionCommands: Record<string, Handler> = {
  commitTransaction: async (command, engine) => {
    const { session, number } = transactionId(command)
    await engine.transactions.commit(session, number)
    return ok
  },

  abortTransaction: async (command, engine) => {
    const { session, number } = transactionId(command)
    await engine.transactions.abort(session, number)
    return ok
  },

  endSessions,
  killSessions: endSessions,

  /** Sessions need no refreshing here: what the gateway remembers of one outlives the drivers' half hour. */
  refreshSessions: () => ok,
  startSession: () => ok,
}

/** Ends the sessions' open transactions and cursors. */
async function endSessions(command: Command, engine: Engine): Promise<Answer> {
  const sessions = sessionsOf(command)
  for (const session of sessions) await engine.transactions.abortSession(session)
  await deleteInEngine(engine, engine.cursors.removeOfSessions(sessions))
  return ok
}

function sessionsOf(command: Command): Set<string> {
  const listed = command.view.parse()[command.name]
  const ids = Array.isArray(listed) ? listed.filter(isRecord).map(({ id }) => id) : []
  return new Set(ids.filter((id) => id instanceof Binary).map((id) => id.toString('hex')))
}
