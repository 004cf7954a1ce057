import { Binary } from 'bson'
import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'
import type { Command, Handler } from './command.ts'

const mechanism = 'SCRAM-SHA-256'
const conversationId = 1

/** Commands by which a client logs in, by name. They are refused alike whatever is wrong. */
export const loginCommands: Record<string, Handler> = {
  saslStart(command) {
    if (command.view.string('mechanism') !== mechanism) throw refused()
    return reply(command.client.login?.start(payloadOf(command)) ?? null, false)
  },

  saslContinue: (command) => reply(command.client.login?.finish(payloadOf(command)) ?? null, true),
}

/** Served before a login: a driver introduces itself, then logs in. */
const beforeLogin = new Set(['hello', 'isMaster', 'ismaster', 'saslStart', 'saslContinue'])

/** @throws MongoError Unauthorized for a command of a client that has to log in first */
export function requireLogin({ name, client }: Pick<Command, 'name' | 'client'>): void {
  if (client.login === null || client.login.isDone() || beforeLogin.has(name)) return
  throw new MongoError(mongoCode.Unauthorized, `command ${name} requires authentication`)
}

function payloadOf({ view }: Command): string {
  return view.binary('payload')?.toString('utf8') ?? ''
}

function reply(payload: string | null, done: boolean) {
  if (payload === null) throw refused()
  return { conversationId, done, payload: new Binary(Buffer.from(payload)), ok: 1 }
}

function refused(): MongoError {
  return new MongoError(mongoCode.AuthenticationFailed, 'Authentication failed.')
}
