import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { Bus } from '@pitboss/bus/connect-bus'
import { encodeWatch, tailRoots, tailSubject, tailWatchSubject, watchEveryMs } from '@pitboss/bus/tail-notes'
import type { EventEnvironment } from '@pitboss/contracts/primitives'
import { type TailKind, tailKind } from '@pitboss/contracts/objects/tail'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Logger } from 'pino'
import type { AccessState } from '../access/access-state.ts'
import { identify, type Identity } from '../access/identify.ts'
import type { LoadGauge } from '../limits/load-gauge.ts'
import { createPlaces } from '@pitboss/runtime/places'
import type { RouteEntry } from '../routes/route-entry.ts'
import { createTailPipe, recordFrame, type TailPipe } from './tail-pipe.ts'

/** Turns in a second; each tail has one of them. */
const turns = 20
const turnMs = 1000 / turns
const accountsPerWatch = 100

export type TailRequest = {
  readonly entry: RouteEntry
  readonly raw: IncomingMessage
  readonly identity: Identity
  readonly clientAddress: string
  readonly environment: EventEnvironment
  readonly kinds: ReadonlySet<TailKind>
  /** Throws once the person may not read these kinds any more. */
  readonly permit: (reader: Identity) => void
  readonly matches: (kind: TailKind, record: unknown) => boolean
}
type Tail = TailRequest & { readonly pipe: TailPipe }
type Followed = { readonly tails: Set<Tail>; readonly unsubscribe: () => void }

export type Tails = ReturnType<typeof createTails>

/**
 * The open tails of one gateway. A note reaches the tails of its account and environment alone; each tail is
 * judged anew every second as a request would be, so it ends with its token, person, session or role. Tails
 * have their turns one after the other, so that thousands neither hold up requests nor need their memory at
 * once.
 */
export function createTails({
  bus,
  access,
  gauge,
  limits,
  logger,
}: {
  bus: Pick<Bus, 'publish' | 'subscribe'>
  access: AccessState
  gauge: Pick<LoadGauge, 'sheds'>
  /** Most tails of one person, of an account, and of this gateway. */
  limits: { readonly person: number; readonly account: number; readonly all: number }
  logger: Pick<Logger, 'warn'>
}) {
  const followed = new Map<string, Followed>()
  const places = {
    person: createPlaces(limits.person),
    account: createPlaces(limits.account),
    all: createPlaces(limits.all),
  }
  const open = () => [...followed.values()].flatMap(({ tails }) => [...tails])
  const ofTurn = Array.from({ length: turns }, () => new Set<Tail>())
  let turn = 0
  let opened = 0
  /** While a tail is open. */
  let timers: readonly NodeJS.Timeout[] = []

  function startTimers(): void {
    if (timers.length > 0) return
    timers = [setInterval(nextTurn, turnMs), setInterval(tellWatched, watchEveryMs)]
    for (const timer of timers) timer.unref()
  }

  function stopTimers(): void {
    for (const timer of timers) clearInterval(timer)
    timers = []
  }

  function nextTurn(): void {
    turn = (turn + 1) % turns
    const sheds = gauge.sheds('tail')
    for (const tail of ofTurn[turn] ?? []) {
      if (sheds) tail.pipe.end('SERVICE_UNAVAILABLE')
      else {
        tail.pipe.tick()
        void judge(tail)
      }
    }
  }

  async function judge({ entry, raw: request, clientAddress, permit, pipe }: Tail): Promise<void> {
    try {
      const { access: allowed, mayLack } = entry
      if (allowed === null) throw new TypeError(`${entry.path} takes no token`)
      const reader = await identify({
        request,
        access: allowed,
        mayLack,
        state: access,
        clientAddress,
        onClaims: () => undefined,
      })
      permit(reader)
    } catch (err) {
      if (!(err instanceof ServiceError)) logger.warn({ err }, 'tail.not-judged')
      pipe.end(err instanceof ServiceError ? err.code : 'INTERNAL_ERROR')
    }
  }

  function tellWatched(): void {
    const accounts = [...followed.keys()]
    for (let start = 0; start < accounts.length; start += accountsPerWatch) {
      bus.publish(tailWatchSubject, encodeWatch(accounts.slice(start, start + accountsPerWatch)))
    }
  }

  function take(operatorId: string, subject: string, data: Uint8Array): void {
    const [environment, kind] = subject.split('.').slice(4)
    const known = tailKind.safeParse(kind)
    if (!known.success) return
    const of = [...(followed.get(operatorId)?.tails ?? [])].filter(
      (tail) => tail.environment === environment && tail.kinds.has(known.data),
    )
    if (of.length === 0) return
    const text = new TextDecoder().decode(data)
    const record: unknown = JSON.parse(text)
    const frame = recordFrame(known.data, text)
    for (const { pipe, matches } of of) if (matches(known.data, record)) pipe.offer(frame)
  }

  function follow(operatorId: string): Followed {
    const known = followed.get(operatorId)
    if (known !== undefined) return known
    const heard = tailRoots.map((root) =>
      bus.subscribe(tailSubject(root, operatorId), ({ subject, data }) => take(operatorId, subject, data)),
    )
    const fresh = { tails: new Set<Tail>(), unsubscribe: () => heard.forEach((one) => one.unsubscribe()) }
    followed.set(operatorId, fresh)
    return fresh
  }

  return {
    /**
     * @throws ServiceError SERVICE_UNAVAILABLE when the person, the account or the gateway has all its tails
     * open
     */
    open(request: TailRequest): Readable {
      const { operatorId, actor } = request.identity
      const person = actor.kind === 'user' ? actor.user_id : operatorId
      const taken = [places.all.take('all'), places.account.take(operatorId), places.person.take(person)]
      const held = taken.filter((leave) => leave !== null)
      if (held.length < taken.length) {
        for (const leave of held) leave()
        const message = 'Too many tails are open.'
        throw new ServiceError('SERVICE_UNAVAILABLE', { message, retryAfterS: 10 })
      }
      const tail: Tail = { ...request, pipe: createTailPipe() }
      opened += 1
      const fellows = ofTurn[opened % turns]
      fellows?.add(tail)
      const account = follow(operatorId)
      account.tails.add(tail)
      tail.pipe.readable.once('close', () => {
        for (const leave of held) leave()
        account.tails.delete(tail)
        fellows?.delete(tail)
        if (account.tails.size > 0) return
        account.unsubscribe()
        followed.delete(operatorId)
        if (followed.size === 0) stopTimers()
      })
      startTimers()
      bus.publish(tailWatchSubject, encodeWatch([operatorId]))
      return tail.pipe.readable
    },

    count: () => open().length,

    /** Ends every tail; the page comes back elsewhere. */
    stop(): void {
      stopTimers()
      for (const { pipe } of open()) pipe.end('SERVICE_UNAVAILABLE')
    },
  }
}
