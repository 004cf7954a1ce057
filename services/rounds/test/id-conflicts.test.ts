import * as endpoints from '@pitboss/contracts/endpoints/rounds'
import { Registry } from 'prom-client'
import t from 'tap'
import { codeOf, startRig } from './fixtures/rounds-rig.ts'

t.test('an id that belongs to a round of the other driver is a conflict, which is counted', async (t) => {
  const registry = new Registry()
  const rig = await startRig(t, { registry })
  const { session_id, ...session } = await rig.openSession()
  const bet = (id: string) =>
    rig.bus.call(endpoints.placeTransaction.call, {
      ...{ caller: rig.caller(), params: {}, query: {} },
      body: { transaction_id: id, type: 'BET', session_id, amount: '1.00', currency: session.currency },
    })
  const counted = async () =>
    (await registry.getMetricsAsJSON()).find(({ name }) => name.includes('conflicts'))

  await rig.play({ session_id, ...session }, { transaction_id: 'order-123' })
  t.equal(await codeOf(bet('order-123')), 'TRANSACTION_CONFLICT')
  t.match(await counted(), { values: [{ value: 1 }] })
})
