import { createOperatorClient } from '@pitboss/testing/operator-client'
import { sharedStack } from '@pitboss/testing/shared-stack'
import t from 'tap'
import { compileClients, generateClients, generators, runFlow } from '../src/generate-clients.ts'
import { installGenerators } from '../src/install-generators.ts'

t.test('clients that generators make of the description compile strictly, and play', async (t) => {
  installGenerators()
  const demo = (await sharedStack(t)).demo()
  const operator = await createOperatorClient(demo)
  const described = await fetch(`${demo.base_url}/v1/public/openapi.json`)
  const folder = t.testdir()
  generateClients(folder, await described.json())
  compileClients(folder)

  const { api_key: apiKey, api_secret: apiSecret } = demo.test
  for (const name of generators) {
    await t.test(name, async (t) => {
      const seen = runFlow(folder, name, { baseUrl: demo.base_url, apiKey, apiSecret })
      t.match(seen, { isValid: true, refusal: 'BET_LIMIT_EXCEEDED', roll: /^\d\d?\.\d\d$/ })
      const { sessionId, roundId, eventId, payouts, movement } = seen
      const { body: round } = await operator.call('GET', `/rounds/${roundId}`)
      t.match(round, { session_id: sessionId, player_id: name, status: 'SETTLED' })
      t.same(payouts, [round.payout, round.payout, round.payout])
      const { body: event } = await operator.call('GET', `/events/${eventId}`)
      t.match(event, { type: 'round.completed', data: { round_id: roundId } })
      const { body: stake } = await operator.call('GET', `/transactions/${movement}`)
      t.match(stake, { status: 'SUCCESS', session_id: sessionId })
    })
  }
})
