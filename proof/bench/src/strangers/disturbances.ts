import type { Bus } from '@pitboss/bus/connect-bus'
import type { Cleanup } from '../harness/cleanup.ts'
import type { HttpClient } from '../harness/http-client.ts'
import { sendOpenLoop } from '../harness/send-open-loop.ts'
import { type Part, startPart } from '../harness/start-part.ts'
import type { WalletMood } from '../settlement/wallet-mood.ts'
import { openTenant, type Tenant } from './open-tenant.ts'
import type { Receiver } from './receiver.ts'

export const disturbanceNames = ['sockets', 'repeats', 'names', 'wallet', 'endpoints', 'refused'] as const
export type DisturbanceName = (typeof disturbanceNames)[number]

/** What strangers do for a while. @returns what ends it; resolves when nothing of it is under way. */
export type Disturb = (seconds: number) => Promise<() => Promise<void>>

export type StrangerWorld = {
  readonly bus: Bus
  /** From an address that the healthy tenant does not have. */
  readonly http: HttpClient
  readonly port: number
  readonly wallet: { readonly part: Part; readonly url: string }
  readonly receiver: Receiver
  readonly cleanup: Cleanup
}

const socketCount = 3000
const socketAddress = '127.0.0.2'
const repeatCount = 2100
const stakesPerSecond = 20
const namedStakesPerSecond = 5
const hangingEndpoints = 20
const sessionsPerSecond = 10
const refusedPerSecond = 100
const unknownSession = `/v1/sessions/ses_${'0'.repeat(32)}`

export const titles: Readonly<Record<DisturbanceName, string>> = {
  sockets: `${socketCount} idle sockets that owe a body`,
  repeats: `${repeatCount} repeats of one WIN, whose wallet hangs`,
  names: 'a wallet and an endpoint whose name servers are silent',
  wallet: `a wallet that hangs, ${stakesPerSecond} stakes/s`,
  endpoints: `${hangingEndpoints} endpoints that hang, ${sessionsPerSecond} events/s to each`,
  refused: `${refusedPerSecond} requests/s, all refused`,
}

/** Prepares a disturbance with an account of its own. */
export function prepareDisturbance(name: DisturbanceName, world: StrangerWorld): Promise<Disturb> {
  const prepare = { sockets, repeats, names, wallet, endpoints, refused }[name]
  return prepare(world)
}

async function sockets({ port, cleanup }: StrangerWorld): Promise<Disturb> {
  const environment = { PORT: String(port), ADDRESS: socketAddress }
  const { part } = await startPart('strangers/idle-sockets-main.ts', environment, cleanup)
  return async () => {
    await part.ask({ count: socketCount })
    return async () => {
      await part.ask({ count: 0 })
    }
  }
}

async function repeats(world: StrangerWorld): Promise<Disturb> {
  const { http } = world
  const { tenant, behave } = await withWallet(world, 'repeats')
  let turn = 0
  return async (seconds) => {
    turn += 1
    await behave({ kind: 'ok', afterMs: 0 })
    const { sessionId } = await tenant.session(`repeats-${turn}`)
    const { roundId } = await tenant.bet(sessionId, `stake-${turn}`)
    await behave({ kind: 'hang' })
    const win = {
      type: 'WIN',
      transaction_id: `win-${turn}`,
      round_id: roundId,
      amount: '1.00',
      currency: 'USD',
    }
    const under = send(repeatCount, repeatCount / seconds, async () => {
      await http.send('POST', '/v1/transactions', { token: tenant.token, body: win })
    })
    return async () => {
      await behave({ kind: 'ok', afterMs: 0 })
      await under.ended()
    }
  }
}

async function names(world: StrangerWorld): Promise<Disturb> {
  const { http, bus } = world
  const tenant = await openTenant({ bus, http, name: 'names' }, 'http://wallet.silent-one.example:8080')
  await tenant.addEndpoint('http://hooks.silent-two.example:8080/hook')
  return stakes(tenant, namedStakesPerSecond)
}

async function wallet(world: StrangerWorld): Promise<Disturb> {
  const { tenant, behave } = await withWallet(world, 'wallet')
  const place = await stakes(tenant, stakesPerSecond)
  return async (seconds) => {
    await behave({ kind: 'hang' })
    const end = await place(seconds)
    return async () => {
      await behave({ kind: 'ok', afterMs: 0 })
      await end()
    }
  }
}

async function endpoints(world: StrangerWorld): Promise<Disturb> {
  const { receiver } = world
  const { tenant } = await withWallet(world, 'endpoints')
  for (let index = 0; index < hangingEndpoints; index++) {
    await tenant.addEndpoint(`http://127.0.0.1:${receiver.port}/hang/${index}`)
  }
  return async (seconds) => {
    const under = send(sessionsPerSecond * seconds, sessionsPerSecond, async (number) => {
      await tenant.session(`endpoints-${number}`)
    })
    return under.ended
  }
}

async function refused(world: StrangerWorld): Promise<Disturb> {
  const { http } = world
  const { tenant } = await withWallet(world, 'refused')
  const { token } = tenant
  return async (seconds) => {
    const under = send(refusedPerSecond * seconds, refusedPerSecond, async (number) => {
      const body = { player_id: 'p', game: 'dice', currency: 'XXX' }
      await (number % 2 === 0
        ? http.send('POST', '/v1/sessions', { token, body })
        : http.send('GET', unknownSession, { token }))
    })
    return under.ended
  }
}

/** Stakes of rounds that the account's server drives, each of a player of its own. */
async function stakes(tenant: Tenant, perSecond: number): Promise<Disturb> {
  let turn = 0
  return async (seconds) => {
    turn += 1
    const { sessionId } = await tenant.session(`stakes-${turn}`)
    const under = send(perSecond * seconds, perSecond, async (number) => {
      await tenant.bet(sessionId, `stake-${turn}-${number}`)
    })
    return under.ended
  }
}

/** An account whose wallet behaves as it is told. */
async function withWallet({ bus, http, wallet: { part, url } }: StrangerWorld, name: string) {
  const tenant = await openTenant({ bus, http, name }, `${url}/${name}`)
  const behave = async (mood: WalletMood) => {
    await part.ask({ name, mood })
  }
  return { tenant, behave }
}

/** Sends in an open loop until it is told to end; answers and failures are the stranger's own affair. */
function send(total: number, perSecond: number, one: (number: number) => Promise<void>) {
  let over = false
  const sending = sendOpenLoop(Math.ceil(total), perSecond, async (number) => {
    if (!over) await one(number).catch(() => undefined)
  })
  return {
    async ended() {
      over = true
      await sending
    },
  }
}
