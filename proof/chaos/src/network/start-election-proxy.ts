import type { Document } from 'bson'
import { type FaultProxy, type Passage, type Screen, startFaultProxy } from './fault-proxy.ts'
import {
  answerTo,
  createFramer,
  documentOf,
  requestIdOf,
  responseToOf,
  withDocument,
} from '@pitboss/testing/wire-messages'

/**
 * How commands meet an election: turned away before or after they ran, an acknowledgement that the majority
 * may never have, a connection that ends before or after the command arrived, or before an insert that still
 * arrives later.
 */
export const meetings = [
  'refused',
  'interrupted',
  'unacknowledged',
  'cut-before',
  'cut-after',
  'late',
] as const
export type Meeting = (typeof meetings)[number]

export type ElectionProxy = FaultProxy & {
  /**
   * The next `commands` commands meet an election so.
   * @param lateMs after which time what is late arrives
   */
  meet(how: Meeting, commands: number, lateMs?: number): void
  /** Whether there is a primary: without one every command is refused and `hello` says so. */
  setPrimary(present: boolean): void
  /** Number of commands that met an election, by how. */
  met(): Readonly<Record<Meeting, number>>
}

/** Errors as a replica set gives them. Source: MongoDB's error_codes.yml. */
const notPrimary = { code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary' }
const interrupted = {
  code: 11602,
  codeName: 'InterruptedDueToReplStateChange',
  errmsg: 'operation was interrupted',
}
const steppedDown = {
  code: 189,
  codeName: 'PrimarySteppedDown',
  errmsg: 'Primary stepped down while waiting for replication',
}

/** A member that is no primary answers these all the same. */
const always = [
  'hello',
  'ismaster',
  'isMaster',
  'ping',
  'buildInfo',
  'saslStart',
  'saslContinue',
  'endSessions',
  'killCursors',
]
const inserts = ['insert', 'bulkWrite']
const writes = [...inserts, 'update', 'delete', 'findAndModify', 'commitTransaction']
/** Answers to `hello` are shorter; longer ones are not looked into. */
const helloBytesMax = 4096

/**
 * A proxy for MongoDB's wire protocol: besides the faults of every link it answers as a member does whose
 * replica set elects another primary. Drivers find no way around it: `hello` names the proxy as the only
 * member.
 */
export async function startElectionProxy(target: { host: string; port: number }): Promise<ElectionProxy> {
  const met: Record<Meeting, number> = {
    refused: 0,
    interrupted: 0,
    unacknowledged: 0,
    'cut-before': 0,
    'cut-after': 0,
    late: 0,
  }
  let next: { how: Meeting; left: number; lateMs: number } | null = null
  let isPrimary = true
  let port = 0

  const meetingOf = (command: Document): Meeting | null => {
    if (always.includes(nameOf(command))) return null
    if (next !== null && next.left > 0) {
      const isWrite = writes.includes(nameOf(command))
      const isOther = next.how === 'late' ? !inserts.includes(nameOf(command)) : !isWrite
      if ((next.how === 'unacknowledged' || next.how === 'late') && isOther)
        return isPrimary ? null : 'refused'
      next.left -= 1
      return next.how
    }
    return isPrimary ? null : 'refused'
  }

  const screenOf = (passage: Passage): Screen => {
    const requests = createFramer()
    const replies = createFramer()
    /** Commands that were passed on and whose answer is changed. */
    const waiting = new Map<number, { how: Meeting; command: Document }>()

    const take = (message: Buffer) => {
      const command = isPrimary && (next?.left ?? 0) === 0 ? null : documentOf(message)
      const how = command === null ? null : meetingOf(command)
      if (command === null || how === null) return passage.toServer(message)
      met[how] += 1
      if (how === 'refused') return passage.toClient(answerTo(message, failure(command, notPrimary)))
      if (how === 'cut-before') return passage.reset()
      if (how === 'late') return passage.leave(message, next?.lateMs ?? 0)
      waiting.set(requestIdOf(message), { how, command })
      passage.toServer(message)
    }
    const give = (message: Buffer) => {
      const meeting = waiting.get(responseToOf(message))
      if (meeting === undefined) return passage.toClient(introduced(message))
      waiting.delete(responseToOf(message))
      const { how, command } = meeting
      if (how === 'cut-after') return passage.reset()
      const reply = documentOf(message)
      const changed =
        how === 'interrupted' || reply?.ok !== 1
          ? failure(command, interrupted)
          : { ...reply, writeConcernError: steppedDown, ...labelsOf(command) }
      passage.toClient(withDocument(message, changed))
    }
    return {
      fromClient: (bytes) => requests(bytes).forEach(take),
      fromServer: (bytes) => replies(bytes).forEach(give),
    }
  }

  /** The answer to a `hello`, with the proxy instead of the member behind it. */
  function introduced(message: Buffer): Buffer {
    if (message.length > helloBytesMax || !message.includes('setName')) return message
    const document = documentOf(message)
    if (document === null || !Array.isArray(document.hosts)) return message
    const me = `127.0.0.1:${port}`
    const { primary: _primary, ...rest } = document
    const flag = 'ismaster' in document ? 'ismaster' : 'isWritablePrimary'
    const role = { [flag]: isPrimary, secondary: !isPrimary, ...(isPrimary ? { primary: me } : {}) }
    return withDocument(message, { ...rest, hosts: [me], me, ...role })
  }

  const proxy = await startFaultProxy({ target, screenOf })
  port = proxy.port
  return {
    ...proxy,
    meet(how, commands, lateMs = 0) {
      next = { how, left: commands, lateMs }
    },
    setPrimary(present) {
      isPrimary = present
    },
    met: () => ({ ...met }),
    calm() {
      next = null
      isPrimary = true
      proxy.calm()
    },
  }
}

function failure(command: Document, error: typeof notPrimary): Document {
  return { ok: 0, ...error, ...labelsOf(command) }
}

/** Labels that a server puts on such an error: a driver sends a command again by them. */
function labelsOf(command: Document): { errorLabels?: string[] } {
  if (command.txnNumber === undefined) return {}
  const inTransaction = command.autocommit === false && nameOf(command) !== 'commitTransaction'
  return { errorLabels: [inTransaction ? 'TransientTransactionError' : 'RetryableWriteError'] }
}

function nameOf(command: Document): string {
  return Object.keys(command)[0] ?? ''
}
