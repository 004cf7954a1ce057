import { setTimeout as delay } from 'node:timers/promises'
import type { Answers, Told } from '../answers.ts'
import type { OperatorClient } from '../operator-client.ts'
import type { Random } from '../random.ts'
import { type Answer, isTransient, launchTokenOf, send } from '../send.ts'

/** The parts that every client of a chaos run gets. */
export type ClientDeps = {
  operator: OperatorClient
  answers: Answers
  random: Random
  stopping: AbortSignal
}

const repeatsMax = 4
const copies = { share: 0.12, least: 2, most: 4, apartMs: 200 }
const restMs = { least: 80, most: 400 }

/** Sleeps; wakes early when the run ends. */
export async function rest({ random, stopping }: ClientDeps, least = restMs.least, most = restMs.most) {
  await delay(random.between(least, most), undefined, { signal: stopping }).catch(() => undefined)
}

/** Sends a request, notes the answer, and repeats the very same request while the answer says nothing. */
export async function ask(
  deps: ClientDeps,
  request: {
    what: Told['what']
    id: string | null
    path: string
    token: string
    body?: Record<string, unknown>
  },
  isOver: (answer: Answer) => boolean = (answer) => !isTransient(answer),
): Promise<Answer> {
  const { what, id, path, token, body } = request
  for (let repeats = 0; ; repeats++) {
    const payload = body === undefined ? {} : { body }
    const sentAtMs = Date.now()
    const answer = await send('POST', `${deps.operator.base}${path}`, { token, ...payload })
    deps.answers.add({
      what,
      id,
      asked: { path, ...body },
      answer,
      token,
      sentAtMs,
      answeredAtMs: Date.now(),
    })
    if (isOver(answer) || repeats >= repeatsMax || deps.stopping.aborted) return answer
    await rest(deps)
  }
}

/**
 * One in eight several times at once, or nearly, as a hand that clicks twice does.
 * @returns the first one's answer.
 */
export async function perhapsDoubled(deps: ClientDeps, once: () => Promise<Answer>): Promise<Answer> {
  const { random } = deps
  const times = random.chance(copies.share) ? random.between(copies.least, copies.most) : 1
  const later = Array.from({ length: times - 1 }, async () => {
    await rest(deps, 0, copies.apartMs)
    return once()
  })
  const [first] = await Promise.all([once(), ...later])
  return first
}

/** Opens a session, however long it takes. @returns null when the run ended before. */
export async function openSession(
  deps: ClientDeps,
  body: { player_id: string; game: string; currency: string },
): Promise<{ sessionId: string; token: string } | null> {
  const { operator, answers, stopping } = deps
  while (!stopping.aborted) {
    const sentAtMs = Date.now()
    const answer = await operator.call('POST', '/sessions', body)
    const id = typeof answer.body.session_id === 'string' ? answer.body.session_id : null
    const times = { sentAtMs, answeredAtMs: Date.now() }
    answers.add({ what: 'session', id, asked: body, answer, token: operator.token, ...times })
    if (answer.status === 201 && id !== null) {
      return { sessionId: id, token: launchTokenOf(answer) }
    }
    await rest(deps)
  }
  return null
}
