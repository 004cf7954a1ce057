import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { streamKey } from '../../src/journal/journal-keys.ts'
import { startFleet } from '../fixtures/journal-fleet.ts'

const event = (id: string) => ({ id, subject: `events.${id}`, body: `{"id":"${id}"}` })

await t.test('a process that is killed is recovered by another one', async (t) => {
  const fleet = await startFleet(t)
  const killed = await fleet.fork()
  const [open, ended] = [streamKey('open'), streamKey('ended')]
  await killed.order({ stream: open, after: 0, decided: { facts: ['opened'] } })
  await killed.order({ stream: ended, after: 0, decided: { facts: ['opened'] } })
  await killed.order({ stream: ended, after: 1, decided: { facts: ['ended'], events: [event('evt_1')] } })
  killed.child.kill('SIGKILL')
  const heir = await fleet.start('heir')
  await waitFor(() => heir.taken.length > 0 && fleet.stream.published.length > 0, { timeoutMs: 20_000 })
  t.strictSame(heir.taken, [open], 'what has ended is not taken over')
  t.strictSame(fleet.stream.published, ['evt_1'], 'but its event leaves')
  t.match(await fleet.listed(ended), { n: 2, isOpen: false }, 'after its list document')
  t.match(
    (await fleet.entries(open)).map(({ o, f }) => [o, ...f]),
    [
      [killed.o, 'opened'],
      [heir.running.journal.instance(), 'adopted'],
    ],
  )
  await waitFor(async () => (await fleet.listed(open))?.o === heir.running.journal.instance())
  t.ok(
    (await fleet.instances()).some(({ _id }) => _id === killed.o),
    'it is looked at once more in a minute',
  )
})

await t.test('a process that stood still for seconds goes on as another instance', async (t) => {
  const fleet = await startFleet(t)
  const stopped = await fleet.fork()
  const heir = await fleet.start('heir')
  const stream = streamKey('stopped')
  await stopped.order({ stream, after: 0, decided: { facts: ['opened'] } })
  stopped.child.kill('SIGSTOP')
  const ordered = stopped.order({ stream, after: 1, decided: { facts: ['ended'] } })
  await waitFor(() => heir.taken.includes(stream), { timeoutMs: 20_000 })
  await heir.append(stream, 2, { facts: ['ended'] })
  stopped.child.kill('SIGCONT')
  const answer = await ordered
  t.equal(answer.kind, 'taken', 'what it wanted to append is another process’s')
  await waitFor(async () => {
    const { o } = await stopped.order({ stream: streamKey('other'), after: 0, decided: { facts: ['ended'] } })
    return o !== null && o !== stopped.o
  })
  t.strictSame(
    (await fleet.entries(stream)).flatMap(({ f }) => f),
    ['opened', 'adopted', 'ended'],
  )
})
