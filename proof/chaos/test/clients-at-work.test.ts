import type { Answer } from '@pitboss/testing/operator-client'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startClients } from '../src/rehearsals/clients-at-work.ts'

const answer = (status: number, body: Record<string, unknown> = {}): Answer => ({
  status,
  body,
  headers: new Headers(),
})

/** A client that gets these answers in turn, and 200 from then on. */
function seat(answers: Answer[]) {
  const asked: number[] = []
  const renewed: number[] = []
  return {
    name: 'a client',
    asked,
    renewed,
    ask: async (turn: number) => {
      asked.push(turn)
      return answers.shift() ?? answer(200)
    },
    renew: async () => void renewed.push(asked.length),
  }
}

t.test('a client repeats what it may, as the same turn, and nothing is lost', async (t) => {
  const busy = seat([answer(0), answer(503, { code: 'SERVICE_UNAVAILABLE', retryable: true })])
  const clients = startClients([busy])
  await clients.playOn()
  await clients.end()
  const seen = clients.look()
  t.strictSame(busy.asked.slice(0, 4), [1, 1, 1, 2])
  t.strictSame(Object.fromEntries(seen.repeated), { 'no answer': 1, SERVICE_UNAVAILABLE: 1 })
  t.strictSame(seen.lost, [])
})

t.test('a refusal that cannot be repeated is lost', async (t) => {
  const clients = startClients([seat([answer(500, { code: 'INTERNAL_ERROR', retryable: false })])])
  await clients.playOn()
  await clients.end()
  t.match(clients.look().lost, [{ client: 'a client', turn: 1, status: 500, code: 'INTERNAL_ERROR' }])
})

t.test('what a step expects is counted apart, and only while it does', async (t) => {
  const refusal = () => answer(409, { code: 'WALLET_REJECTED', retryable: false })
  const answers = [refusal()]
  const clients = startClients([seat(answers)])
  clients.mayRefuse('WALLET_REJECTED')
  await clients.playOn()
  clients.mayRefuse()
  t.match(clients.look(), { lost: [], expected: new Map([['WALLET_REJECTED', 1]]) })
  answers.push(refusal())
  await waitFor(() => answers.length === 0)
  await clients.end()
  t.equal(clients.look().lost.length, 1)
})

t.test('a refused token is got anew where the step says so, and else lost', async (t) => {
  const refusal = () => answer(401, { code: 'INVALID_CREDENTIALS', retryable: false })
  const patient = seat([refusal()])
  const clients = startClients([patient])
  clients.mayRenew(true)
  await clients.playOn()
  await clients.end()
  t.match(clients.look(), { renewed: 1, lost: [] })
  t.strictSame(patient.renewed, [1])
  const other = startClients([seat([refusal()])])
  await other.playOn()
  await other.end()
  t.equal(other.look().lost.length, 1)
})
