import { once } from 'node:events'
import { ServiceError } from '@pitboss/errors/service-error'
import { waitFor } from '@pitboss/testing/wait-for'
import t from 'tap'
import { startApprovalCasino } from '../fixtures/approval-casino.ts'

/** Each case has its own database and account, and mostly waits. */
t.jobs = 5
const atOnce = { buffered: true }

const answered = { timeoutMs: 90_000 }

for (const at of ['auth.approved', 'auth.approved-done'])
  for (const act of ['a move of a wallet', 'a deletion of a key'] as const)
    void t.test(`${act} that was approved is done once when the process dies at ${at}`, atOnce, async (t) => {
      const casino = await startApprovalCasino(t)
      const { owner, admin } = casino
      await casino.setSecondPerson(owner, true)
      const key = await casino.liveKey()
      const isMove = act === 'a move of a wallet'
      const id = (isMove ? await casino.moveWallet(admin) : await casino.deleteKey(admin, key)) ?? ''
      await casino.stop()
      const child = casino.spawnDying(at)
      try {
        await waitFor(() => casino.show(id), { ...answered, what: 'the process answers' })
        const exited = once(child, 'exit')
        // it gets no answer, which takes the whole budget of the call
        casino.approve(owner, id).then(
          () => t.fail('a process that died has answered'),
          () => undefined,
        )
        t.equal((await exited)[1], 'SIGKILL', 'it died there')
      } finally {
        child.kill('SIGKILL')
      }
      await casino.start()
      const end = await waitFor(
        async () => {
          const now = await casino.show(id)
          return now.ended_at === null ? null : now
        },
        { ...answered, what: 'the next process to end it' },
      )
      t.match(end, { status: 'DONE', decided_by: { email: casino.email } })
      if (isMove) {
        t.equal(casino.done.length, 1, 'the wallet was moved once')
        t.match(casino.done, [{ approvalId: id, email: casino.email }])
        return
      }
      await t.rejects(casino.keyOf(key), { code: 'NOT_FOUND' })
      const deletions = (await casino.audit('credential.delete')).filter(({ object }) => object.id === key)
      t.match(deletions, [{ approval: { approval_id: id } }])
      t.equal(deletions.length, 1, 'the key was deleted once')
    })

void t.test('what is approved while a service is away is done when it is back', atOnce, async (t) => {
  const casino = await startApprovalCasino(t)
  const { owner, admin } = casino
  await casino.setSecondPerson(owner, true)
  const id = (await casino.moveWallet(admin)) ?? ''
  casino.answers.next = new ServiceError('SERVICE_UNAVAILABLE', { retryAfterS: 1 })
  t.match(await casino.approve(owner, id), { status: 'APPROVED', ended_at: null })
  await t.rejects(casino.moveWallet(admin), { code: 'CONFLICT' }, 'it still waits')
  casino.answers.next = 'done'
  await waitFor(async () => (await casino.show(id)).status === 'DONE', { ...answered, what: 'the next try' })
  t.match(casino.done, [{ approvalId: id }])
})
