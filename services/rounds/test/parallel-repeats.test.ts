import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import type { TransactionBody } from '@pitboss/contracts/objects/movement'
import { errorCatalogue } from '@pitboss/errors/catalogue'
import { ServiceError } from '@pitboss/errors/service-error'
import type { Session } from '@pitboss/contracts/objects/session'
import t from 'tap'
import type { Read } from './fixtures/hold-reads.ts'
import { type Rig, startRig } from './fixtures/rounds-rig.ts'

const waves = 12
const width = 16

const request = { params: {}, query: {} }

async function place(rig: Rig, body: TransactionBody) {
  return rig.bus.call(endpoints.placeTransaction.call, { ...request, caller: rig.caller(), body })
}

function bet({ session_id }: Session, transaction_id: string) {
  return { type: 'BET', transaction_id, session_id, amount: '1.00', currency: 'USD' } as const
}

async function close(rig: Rig, roundId: string) {
  const win = { type: 'WIN', round_id: roundId, amount: '0.00', currency: 'USD', final: true } as const
  return place(rig, { ...win, transaction_id: `end.${roundId}` })
}

/** Sends the same request many times at once; answers the replies and the codes of refusals. */
async function sendAll<Answer>(send: () => Promise<Answer>): Promise<{ answers: Answer[]; codes: string[] }> {
  const results = await Promise.allSettled(Array.from({ length: width }, send))
  const answers = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const codes = results.flatMap(({ status, ...one }) => {
    if (!('reason' in one)) return []
    if (one.reason instanceof ServiceError) return [one.reason.code]
    throw one.reason
  })
  return { answers, codes }
}

async function roundsOf(rig: Rig, { player_id }: Session) {
  const documents = await rig.storage.db
    .collection('rounds')
    .find({ playerId: player_id })
    .sort({ nonce: 1 })
    .toArray()
  return documents.map(({ _id, nonce, clientTransactionId }) => ({
    id: String(_id),
    nonce: Number(nonce),
    clientTransactionId: String(clientTransactionId),
  }))
}

/** Holds the first request of a wave that has found no round of its id, until all others are answered. */
function createHold() {
  let held: { others: PromiseWithResolvers<void>; reads: number } | null = null
  return {
    async hold({ collection, isSorted }: Read): Promise<void> {
      if (held === null || collection !== 'rounds' || !isSorted) return
      held.reads += 1
      if (held.reads === 1) await held.others.promise
    },
    async wave<Answer>(send: () => Promise<Answer>) {
      const others = Promise.withResolvers<void>()
      held = { others, reads: 0 }
      let left = width - 1
      const answered = () => {
        left -= 1
        if (left === 0) others.resolve()
      }
      return sendAll(() => send().finally(answered)).finally(() => {
        held = null
      })
    },
  }
}

t.test('of sixteen equal requests at once every one is answered by the same round', async (t) => {
  const { hold, wave } = createHold()
  const rig = await startRig(t, { replicas: 2, hold })
  const session = await rig.openSession()
  const count = 2 * waves
  const grant = await rig.bus.call(endpoints.createFreeBet.call, {
    ...request,
    caller: rig.caller(),
    body: { player_id: session.player_id, game: 'dice', currency: 'USD', stake: '1.00', count },
  })

  for (let number = 0; number < waves; number++) {
    for (const free_bet of [false, true]) {
      const transaction_id = `${free_bet ? 'free' : 'stake'}-${number}`
      const { answers, codes } = await wave(() => rig.play(session, { free_bet, transaction_id }))
      t.same(codes, [], `${transaction_id} is refused to nobody`)
      t.equal(new Set(answers.map(({ round_id }) => round_id)).size, 1, `${transaction_id} is one round`)
      t.equal(new Set(answers.map(({ fairness }) => fairness.nonce)).size, 1)
      const repeated = await rig.play(session, { free_bet, transaction_id })
      t.equal(repeated.round_id, answers[0]?.round_id, 'and stays it')
    }
    const transaction_id = `bet-${number}`
    const { answers, codes } = await wave(() => place(rig, bet(session, transaction_id)))
    t.same(codes, [], `${transaction_id} is refused to nobody`)
    t.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1, 'one record')
    t.equal(answers.filter(({ status }) => status === 201).length, 1, 'made once')
    await close(rig, answers[0]?.body.round_id ?? '')
  }

  const rounds = await roundsOf(rig, session)
  t.same(
    rounds.map(({ nonce }) => nonce),
    Array.from({ length: 3 * waves }, (_, index) => index + 1),
    'nonces have no gaps',
  )
  t.equal(new Set(rounds.map(({ clientTransactionId }) => clientTransactionId)).size, rounds.length)
  const shown = await rig.bus.call(endpoints.getFreeBet.call, {
    caller: rig.caller(),
    params: { grant_id: grant.body.grant_id },
    query: {},
    body: undefined,
  })
  t.equal(shown.body.remaining, count - waves, 'each wave has used one free bet')
  const credited = rig.wallet.asked.filter(({ type }) => type === 'WIN').map(({ roundId }) => roundId)
  t.equal(new Set(credited).size, credited.length, 'no round is paid twice')
})

t.test('equal requests beside refused stakes leave no gap and never get a conflict', async (t) => {
  const rig = await startRig(t, { replicas: 2 })
  const session = await rig.openSession()
  const refusedWith = new Set<string>()
  for (let number = 0; number < waves; number++) {
    const transaction_id = `refused-${number}`
    const unwritten = { kind: 'unwritten', code: 'WALLET_UNAVAILABLE' } as const
    rig.wallet.next(...Array.from({ length: 1 + (number % 4) }, () => unwritten))
    const isBet = number % 2 === 0
    const send = async () =>
      isBet
        ? (await place(rig, bet(session, transaction_id))).body.round_id
        : (await rig.play(session, { transaction_id })).round_id
    const { answers, codes } = await sendAll(send)
    t.ok(new Set(answers).size <= 1, `${transaction_id} is one round at most`)
    for (const code of codes) refusedWith.add(code)
    const roundId = answers[0] ?? (await until(send))
    if (isBet) await close(rig, roundId)
  }
  const rounds = await roundsOf(rig, session)
  t.same(
    rounds.map(({ nonce }) => nonce),
    Array.from({ length: waves }, (_, index) => index + 1),
    'every nonce is a round that was played',
  )
  t.same(
    [...refusedWith].filter((code) => !isRetryable(code)),
    [],
    'a refused request may be repeated',
  )
})

function isRetryable(code: string): boolean {
  return Object.entries(errorCatalogue).some(([name, { retryable }]) => name === code && retryable)
}

/** Repeats until no refusal is left over for it. */
async function until(send: () => Promise<string>): Promise<string> {
  for (let tries = 0; tries < 10; tries++) {
    const { answers } = await sendAll(send)
    if (answers[0] !== undefined) return answers[0]
  }
  throw new Error('refused for ever')
}
