import type { CallContext } from '@pitboss/contracts/call'
import type { Caller } from '@pitboss/contracts/caller'
import type { Bus } from '@pitboss/bus/connect-bus'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Answers, Told } from '@pitboss/chaos/answers'
import type { Random } from '@pitboss/chaos/random'
import { type Answer, codeOf, isTransient } from '@pitboss/chaos/send'
import { brands } from '../brands.ts'
import type { IdStyle } from '../client-ids.ts'
import { scope, type World } from '../world.ts'

/** The parts that the players and the operator's server of a run share. */
export type ClientDeps = {
  readonly world: World
  readonly random: Random
  readonly answers: Answers
  /** Ids that were sent by the operator's server. */
  readonly asked: Set<string>
  /** No new round begins after this instant. */
  readonly endsAtMs: number
  /** Time that a client waits before it goes on without an answer. */
  readonly patienceMs: number
  /** Probability that one request is sent several times at once. */
  readonly doubled: number
  /** How the requests of the run are named. */
  readonly idStyle: IdStyle
  /** The requests of all clients so far. */
  readonly sent: SentRequest[]
}

/** A request that can be sent again. */
export type SentRequest = {
  readonly request: Pick<Told, 'what' | 'id' | 'asked'>
  readonly send: (context: CallContext) => Promise<Reply>
}

type Reply = { readonly status: number; readonly body: object }

export type Client = {
  readonly bus: Pick<Bus, 'call'>
  rest(least?: number, most?: number): Promise<void>
  isOver(): boolean
  ask(
    request: Pick<Told, 'what' | 'id' | 'asked'>,
    send: (context: CallContext) => Promise<Reply>,
    isFinal?: (answer: Answer) => boolean,
  ): Promise<Answer>
  /** Several times at once, or nearly, as a hand that clicks twice does. @returns the first one's answer. */
  perhapsDoubled(once: () => Promise<Answer>): Promise<Answer>
}

const repeatsMax = 4
const copies = { least: 2, most: 4, apartMs: 300 }
const silence: Answer = { status: 0, body: {} }

/** Currencies of the sessions, with 2, 0, 3, 8 and 18 decimals. */
export const currencies: readonly string[] = ['USD', 'JPY', 'KWD', 'BTC', 'ETH']

const account = {
  operator_id: scope.operatorId,
  name: 'Simulated',
  plan: 'free',
  approved: false,
  suspended: false,
  live_play: 'off',
  live_status: 'NONE',
  platform_real_money: false,
  currencies: [],
  timezone: 'UTC',
} as const

export function callerOf(actor: Caller['actor']): Caller {
  const rest = { eitherEnvironment: false, idempotencyKey: null, clientAddress: '127.0.0.1' }
  const named = brands.map((brand_id) => ({ brand_id, name: brand_id }))
  const own = { ...account, currencies: [...currencies, 'GBP'], brands: named }
  return { scope, account: own, actor, ...rest }
}

export const operator = callerOf({ kind: 'credential', api_key: 'sim', scopes: [] })

/**
 * Sends one request and repeats it with the same meaning until its answer says something. An answer that
 * comes after the client's patience is noted as well: another worker of a real client may still read its
 * connection.
 */
export function createClient({
  world,
  random,
  answers,
  endsAtMs,
  patienceMs,
  doubled,
  sent,
}: ClientDeps): Client {
  const { timeline, bus, trace, onError } = world
  const rest = (least = 20, most = 600) => timeline.wait(random.between(least, most))

  async function askOnce(
    request: Pick<Told, 'what' | 'id' | 'asked'>,
    send: (context: CallContext) => Promise<Reply>,
  ): Promise<Answer> {
    const sentAtMs = timeline.nowMs()
    const given = answerOf(send({ requestId: 'sim' })).then((answer) => {
      trace(`${request.what} ${request.id} is answered ${answer.status} ${codeOf(answer) ?? ''}`)
      answers.add({ ...request, answer, token: '', sentAtMs, answeredAtMs: timeline.nowMs() })
      return answer
    })
    given.catch(onError)
    return Promise.race([given, timeline.wait(patienceMs).then(() => silence)])
  }

  return {
    bus: bus.busOf({ after: (ms, then) => timeline.after(ms, then), now: () => timeline.now() }),
    rest,
    isOver: () => timeline.nowMs() >= endsAtMs,
    async ask(request, send, isFinal = (answer) => !isTransient(answer)) {
      sent.push({ request, send })
      for (let repeats = 0; ; repeats++) {
        const answer = await askOnce(request, send)
        if (isFinal(answer) || repeats >= repeatsMax) return answer
        await rest()
      }
    },
    async perhapsDoubled(once) {
      const times = random.chance(doubled) ? random.between(copies.least, copies.most) : 1
      const later = Array.from({ length: times - 1 }, async () => {
        await rest(0, copies.apartMs)
        return once()
      })
      const [first] = await Promise.all([once(), ...later])
      return first
    },
  }
}

async function answerOf(sent: Promise<Reply>): Promise<Answer> {
  try {
    const { status, body } = await sent
    return { status, body: { ...body } }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const { code, resource, details } = error
    const { status, retryable } = errorCatalogue[code]
    return {
      status,
      body: {
        ...{ code, retryable },
        ...(resource === undefined ? {} : { resource: { ...resource } }),
        ...(details === undefined ? {} : { details }),
      },
    }
  }
}
