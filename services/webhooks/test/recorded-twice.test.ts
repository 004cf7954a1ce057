import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { allDelivered, checkAttemptNumbers, checkLedger } from './fixtures/ledger.ts'
import { startReceiver } from './fixtures/receiver.ts'
import { startRig } from './fixtures/rig.ts'

t.test('no attempt number is used twice when another process passes the log for the endpoint', async (t) => {
  const rig = await startRig(t)
  const { endpoints, ranges } = rig.collections
  const receiver = await startReceiver(t)
  const { webhook_id } = await rig.createEndpoint(receiver.url)
  await rig.publish()
  await allDelivered(rig, 1)

  // A range that another worker, which took this one for dead, has written meanwhile.
  const held: { end(): unknown }[] = []
  receiver.answer((response) => held.push(response))
  await rig.publish()
  await waitFor(() => held.length === 1)
  await endpoints.updateOne(
    { _id: webhook_id },
    { $set: { leaseOwner: 'a worker that died' }, $inc: { leaseToken: 1 } },
  )
  const [last] = await ranges.find({}).sort({ _id: -1 }).toArray()
  if (last === undefined) throw new Error('nothing is passed')
  receiver.answer((response) => response.end())
  for (const response of held) response.end()
  for (let count = 0; count < 3; count++) await rig.publish()
  await waitFor(async () => new Set(receiver.eventIds()).size === 5)
  await allDelivered(rig, 5)
  checkAttemptNumbers(t, receiver.received)
  await checkLedger(t, rig, 5)
})
