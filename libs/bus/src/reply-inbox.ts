import { randomBytes, randomUUID } from 'node:crypto'
import type { Msg, MsgHdrs, NatsConnection } from 'nats'
import { type CallFailure, callFailure } from './call-failure.ts'
import type { gatherWrites } from './gather-writes.ts'
import { inboxRoot } from './wire.ts'

const prefixBytes = 16
const noRespondersCode = 503

/** An inbox prefix that cannot be guessed: `_INBOX.<service>.<128 random bits>`. */
export function newInboxPrefix(service: string): string {
  return `${inboxRoot}${service}.${randomBytes(prefixBytes).toString('base64url')}`
}

/** The reply subjects of one connection's requests. */
export type ReplyInbox = {
  /**
   * The first answer. @param options.lost resolves when nobody will answer any more
   * @throws ServiceError SERVICE_UNAVAILABLE with the `CallFailure` as its cause.
   */
  request(
    subject: string,
    data: Uint8Array,
    options: { timeoutMs: number; headers?: MsgHdrs; lost?: Promise<void> },
  ): Promise<Msg>
  /** Every answer that comes within `listenMs`, at most `repliesMax`; null when there is no subscriber. */
  collect(
    subject: string,
    options: { listenMs: number; repliesMax: number; data?: Uint8Array },
  ): Promise<Msg[] | null>
  /** Ends what waits for an answer from `subject`: the server has refused to publish there. */
  refused(subject: string): void
}

type Waiting = { readonly subject: string; hear(message: Msg): void; fail(failure: CallFailure): void }

/**
 * One subscription for the answers to all requests of a connection, and for each request a token of 122
 * random bits behind it, so that only who receives the request can answer it. The client's own tokens are
 * 8 characters of `Math.random()`, whose next values follow from a few.
 */
export function openReplyInbox(
  nc: NatsConnection,
  service: string,
  { write }: ReturnType<typeof gatherWrites>,
): ReplyInbox {
  const prefix = newInboxPrefix(service)
  const waiting = new Map<string, Waiting>()
  nc.subscribe(`${prefix}.*`, {
    callback(err, message) {
      if (err === null) waiting.get(message.subject.slice(prefix.length + 1))?.hear(message)
    },
  })
  void nc.closed().then(() => {
    for (const one of waiting.values()) one.fail('timeout')
  })

  /** Asks at the end of this turn. Returns how to stop waiting. */
  function ask(one: Waiting, data: Uint8Array, head?: MsgHdrs): () => void {
    const token = randomUUID()
    waiting.set(token, one)
    const options = { reply: `${prefix}.${token}`, ...(head === undefined ? {} : { headers: head }) }
    // The connection is closed: nothing was sent.
    write(() => nc.publish(one.subject, data, options)).catch(() => one.fail('disconnected'))
    return () => void waiting.delete(token)
  }

  return {
    request(subject, data, { timeoutMs, headers: head, lost }) {
      const { promise, resolve, reject } = Promise.withResolvers<Msg>()
      const end = () => {
        clearTimeout(timer)
        stop()
      }
      const fail = (failure: CallFailure) => {
        end()
        reject(callFailure(failure))
      }
      const hear = (message: Msg) => {
        if (isNoResponders(message)) return fail('no-responders')
        end()
        resolve(message)
      }
      const timer = setTimeout(() => fail('timeout'), timeoutMs)
      const stop = ask({ subject, hear, fail }, data, head)
      void lost?.then(() => fail('lost'))
      return promise
    },
    collect(subject, { listenMs, repliesMax, data = new Uint8Array() }) {
      const { promise, resolve, reject } = Promise.withResolvers<Msg[] | null>()
      const answers: Msg[] = []
      const end = (result: Msg[] | null) => {
        clearTimeout(timer)
        stop()
        resolve(result)
      }
      const fail = (failure: CallFailure) => {
        if (failure === 'disconnected') reject(callFailure(failure))
        end(answers)
      }
      const hear = (message: Msg) => {
        if (isNoResponders(message)) return end(null)
        answers.push(message)
        if (answers.length >= repliesMax) end(answers)
      }
      const timer = setTimeout(() => end(answers), listenMs)
      const stop = ask({ subject, hear, fail }, data)
      return promise
    },
    refused(subject) {
      for (const one of waiting.values()) if (one.subject === subject) one.fail('timeout')
    },
  }
}

function isNoResponders(message: Msg): boolean {
  return message.data.length === 0 && message.headers?.code === noRespondersCode
}
