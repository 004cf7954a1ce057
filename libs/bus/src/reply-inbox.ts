import { randomBytes, randomUUID } from 'node:crypto'
import type { Msg, MsgHdrs, NatsConnection } from 'nats'
import { type CallFailure, callFailure } from './call-failure.ts'
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
export function openReplyInbox(nc: NatsConnection, service: string): ReplyInbox {
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

  /** Returns how to stop waiting. */
  function ask(one: Waiting, data: Uint8Array, head?: MsgHdrs): () => void {
    const token = randomUUID()
    waiting.set(token, one)
    try {
      nc.publish(one.subject, data, {
        reply: `${prefix}.${token}`,
        ...(head === undefined ? {} : { headers: head }),
      })
    } catch (error) {
      waiting.delete(token)
      throw error
    }
    return () => void waiting.delete(token)
  }

  return {
    request(subject, data, { timeoutMs, headers: head, lost }) {
      const { promise, resolve, reject } = Promise.withResolvers<Msg>()
      let stop: () => void = () => undefined
      const end = () => {
        clearTimeout(timer)
        stop()
      }
      const fail = (failure: CallFailure) => {
        end()
        reject(callFailure(failure))
      }
      const timer = setTimeout(() => fail('timeout'), timeoutMs)
      const hear = (message: Msg) => {
        if (isNoResponders(message)) return fail('no-responders')
        end()
        resolve(message)
      }
      try {
        stop = ask({ subject, hear, fail }, data, head)
      } catch {
        // The connection is closed: nothing was sent.
        fail('disconnected')
      }
      void lost?.then(() => fail('lost'))
      return promise
    },
    collect(subject, { listenMs, repliesMax, data = new Uint8Array() }) {
      const { promise, resolve, reject } = Promise.withResolvers<Msg[] | null>()
      const answers: Msg[] = []
      let stop: () => void = () => undefined
      const end = (result: Msg[] | null) => {
        clearTimeout(timer)
        stop()
        resolve(result)
      }
      const timer = setTimeout(() => end(answers), listenMs)
      const hear = (message: Msg) => {
        if (isNoResponders(message)) return end(null)
        answers.push(message)
        if (answers.length >= repliesMax) end(answers)
      }
      try {
        stop = ask({ subject, hear, fail: () => end(answers) }, data)
      } catch {
        clearTimeout(timer)
        reject(callFailure('disconnected'))
      }
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
