import { failure, movementAnswer } from '../demo-answers.ts'
import { exchange } from '../../exchange.ts'
import { anything, DemoError, eventually, expectAnswer } from '../demo-http.ts'
import type { Chapter } from '../tour.ts'

/** A stake whose outcome is unknown at first, and how it ends without anybody's help. */
export const slowWallet: Chapter = async ({ api, demo, log, run, token, wallet, receiver, open, atEnd }) => {
  log.step(
    'A wallet that does not answer',
    'the sandbox wallet keeps silent on the next debit; the player bets all the same',
  )
  const player = `demo-${run}-slow`
  const faults = `${demo.wallet.url}/sandbox/faults`
  const removeFaults = () => expectAnswer(204, anything, 'DELETE', faults)
  atEnd(removeFaults)
  await expectAnswer(200, anything, 'PUT', faults, {
    body: { rules: [{ operation: 'debit', player_id: player, kind: 'hang', count: 1 }] },
  })
  const { playerToken } = await open('dice', player)
  const stuck = await exchange('POST', `${api}/game/rounds`, {
    token: playerToken,
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  const { code, resource } = failure.parse(stuck.body)
  if (stuck.status !== 504 || code !== 'WALLET_TIMEOUT' || resource === undefined)
    throw new DemoError(`expected WALLET_TIMEOUT, got ${stuck.status} ${code}`)
  log.happened(`504 ${code}, retryable; the stake ${resource.transaction_id} is pending, nothing is lost`)
  const movement = await eventually('the end of the pending stake', async () => {
    const url = `${api}/transactions/${resource.transaction_id}`
    const now = await expectAnswer(200, movementAnswer, 'GET', url, { token })
    return now.status === 'PENDING' ? null : now
  })
  log.happened(
    `the service asked again by itself: ${movement.type} of ${movement.amount} is ${movement.status}`,
  )
  await removeFaults()
  if (resource.round_id !== undefined) await receiver.show('round.completed', resource.round_id)
  await wallet.show(resource.transaction_id)
}
