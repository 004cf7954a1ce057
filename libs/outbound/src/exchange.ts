import type { Agent, Dispatcher } from 'undici'

/** The headers of an answer, by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>

/** An answer of which the head has come, with its body as far as it was read. */
export type Answer = {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: Buffer
  /** When its head came, on the steady clock. */
  readonly headAtMs: number
  /**
   * How the body ended: it is `whole`, has more than was asked for (`long`), was not there in time (`late`),
   * or broke off with `error`.
   */
  readonly end: 'whole' | 'long' | 'late' | 'broken'
  readonly error: unknown
}

/** The exchange did not begin to be answered in time. */
export class DeadlineError extends Error {}

type Limits = {
  /** Of the whole exchange, also of the wait for a connection. */
  readonly timeoutMs: number
  /** The body of a success is waited for this long after its head. */
  readonly successBodyMs?: number
  /** At least so many bytes of the body are read, and what came with the last of them. */
  readonly bytesMax: number
}

/** Whether a status is one of success. */
export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/**
 * Posts and reads the answer, within limits, by the events of the client: a stream of each answer costs more
 * processor time than all the rest. What is late before it has a connection is never sent.
 * @throws DeadlineError when no head came in time; what the connection throws
 */
export function exchange(
  agent: Agent,
  { url, headers, body }: { url: string; headers: Readonly<Record<string, string>>; body: string },
  { timeoutMs, successBodyMs, bytesMax }: Limits,
): Promise<Answer> {
  const { origin, pathname, search } = new URL(url)
  const request = { origin, path: `${pathname}${search}`, method: 'POST', headers, body }
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const chunks: Buffer[] = []
  let bytes = 0
  let head: Pick<Answer, 'status' | 'headers' | 'headAtMs'> | null = null
  let connection: Dispatcher.DispatchController | null = null
  let isOver = false
  const timers = [setTimeout(stop, timeoutMs)]

  function finish(end: Answer['end'], error: unknown = null): void {
    if (isOver) return
    isOver = true
    for (const timer of timers) clearTimeout(timer)
    if (head === null) reject(error)
    else resolve({ ...head, body: Buffer.concat(chunks), end, error })
  }

  function stop(): void {
    const late = new DeadlineError('there is no time left')
    finish('late', late)
    connection?.abort(late)
  }

  agent.dispatch(
    { ...request, headersTimeout: 0, bodyTimeout: 0 },
    {
      onRequestStart(controller) {
        connection = controller
        if (isOver) stop()
      },
      onResponseStart(_, status, answered) {
        // Not final: what comes after it is the answer, or a mistake.
        if (status < 200) return
        head = { status, headers: answered, headAtMs: performance.now() }
        if (successBodyMs !== undefined && isSuccess(status)) timers.push(setTimeout(stop, successBodyMs))
      },
      onResponseData(controller, chunk) {
        if (isOver) return
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes < bytesMax) return
        finish('long')
        // Not in the middle of the parser's work.
        queueMicrotask(() => controller.abort(new Error('the rest is not read')))
      },
      onResponseEnd: () => finish('whole'),
      onResponseError: (_, error) => finish('broken', error),
    },
  )
  return promise
}
