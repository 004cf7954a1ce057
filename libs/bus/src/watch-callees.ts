import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { ReplyInbox } from './reply-inbox.ts'
import { decodeJson, encodeJson } from './wire.ts'

/** Pause between two questions about a call, and its age at the first one. */
const askEveryMs = 750
/** Time in which the replicas of a service answer a question; shorter than the pause. */
const listenMs = 600
const repliesMax = 64
/** Questions in a row that nobody affirms until the callee counts as lost. */
const denialsMax = 3
/** Calls that one question names, the oldest first. */
const askedCallsMax = 2000

const questionSchema = z.object({ calls: z.array(z.string().max(64)).max(askedCallsMax) })
const answerSchema = z.object({ metadata: z.object({ calls: z.string() }) })

/** A call that waits for its answer. */
type AwaitedCall = {
  readonly id: string
  readonly service: string
  readonly beganAtMs: number
  readonly lose: () => void
  denials: number
}

export type CalleeWatch = {
  /** `id` goes with the request; `lost` resolves once no process works on the call, and never else. */
  watch(service: string): { readonly id: string; readonly lost: Promise<void>; end(): void }
}

/**
 * Notices that the process died which had taken a call. A call that is older than 750 ms is asked for at the
 * service's replicas, with the ping of the micro protocol: each names those that it works on. Three questions
 * in a row that replicas answer and none affirms, or that find no replica, mean that nobody will answer.
 * Silence means nothing, and neither does the answer of a replica that names no calls. Nothing is sent while
 * calls are answered at once. Source: docs/decisions/2026-11-28-callers-ask-for-slow-calls.md.
 */
export function watchCallees({
  inbox,
  connected,
}: {
  inbox: Pick<ReplyInbox, 'collect'>
  connected: () => boolean
}): CalleeWatch {
  const awaited = new Map<string, AwaitedCall>()
  const prefix = randomBytes(6).toString('base64url')
  let count = 0
  let timer: NodeJS.Timeout | null = null

  function askForOld(): void {
    if (awaited.size === 0 && timer !== null) {
      clearInterval(timer)
      timer = null
    }
    if (!connected()) return
    const latest = performance.now() - askEveryMs
    const old = [...awaited.values()].filter(({ beganAtMs }) => beganAtMs <= latest)
    for (const [service, calls] of Map.groupBy(old, (call) => call.service))
      void ask(service, calls.slice(0, askedCallsMax))
  }

  async function ask(service: string, calls: readonly AwaitedCall[]): Promise<void> {
    const question = encodeJson({ calls: calls.map(({ id }) => id) })
    const subject = `$SRV.PING.${service}`
    const answers = await inbox.collect(subject, { listenMs, repliesMax, data: question }).catch(() => [])
    const named = answers === null ? [] : answers.map(({ data }) => readAnswer(data))
    const isSilent = answers !== null && answers.length === 0
    if (isSilent || named.includes(null)) return
    for (const call of calls) {
      const isAtWork = named.some((ids) => ids?.has(call.id))
      call.denials = isAtWork ? 0 : call.denials + 1
      if (call.denials >= denialsMax) call.lose()
    }
  }

  return {
    watch(service) {
      const { promise: lost, resolve: lose } = Promise.withResolvers<void>()
      count += 1
      const id = `${prefix}.${count.toString(36)}`
      awaited.set(id, { id, service, beganAtMs: performance.now(), lose, denials: 0 })
      timer ??= setInterval(askForOld, askEveryMs).unref()
      return { id, lost, end: () => void awaited.delete(id) }
    },
  }
}

/** The calls of a question that are in `atWork`; null for a ping that asks for none. Never throws. */
export function readQuestion(data: Uint8Array, atWork: ReadonlySet<string>): string | null {
  if (data.length === 0) return null
  try {
    const { calls } = questionSchema.parse(decodeJson(data))
    return calls.filter((id) => atWork.has(id)).join(' ')
  } catch {
    return null
  }
}

/** The calls that a replica works on; null when it does not say. */
function readAnswer(data: Uint8Array): ReadonlySet<string> | null {
  try {
    return new Set(answerSchema.parse(decodeJson(data)).metadata.calls.split(' '))
  } catch {
    return null
  }
}
