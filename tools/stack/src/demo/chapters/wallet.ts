import { failure, movementAnswer, anything, DemoError, eventually, expectAnswer, page } from '../answers.ts'
import { exchange } from '../../exchange.ts'
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

/** The wallet's own refusal reaches the player as a clear answer and leaves no round to settle. */
export const brokePlayer: Chapter = async ({ api, log, run, token, wallet, receiver, open }) => {
  const player = `broke-${run}`
  log.step('A player without money', `POST /v1/game/rounds for player ${player}, whose wallet is empty`)
  await wallet.skip()
  const { playerToken } = await open('dice', player)
  const refused = await exchange('POST', `${api}/game/rounds`, {
    token: playerToken,
    body: { stake: '1.00', bet: { target: '50.00', direction: 'over' } },
  })
  const { code, message, retryable } = failure.parse(refused.body)
  if (code !== 'INSUFFICIENT_FUNDS' || retryable)
    throw new DemoError(`expected INSUFFICIENT_FUNDS, got ${JSON.stringify(refused.body)}`)
  log.happened(`${refused.status} ${code}: ${message}`, { status: refused.status, code })
  await wallet.show(player)
  const { data } = await expectAnswer(
    200,
    page(movementAnswer),
    'GET',
    `${api}/transactions?player_id=${player}`,
    { token },
  )
  const [stake, ...others] = data
  if (stake?.status !== 'FAILED' || others.length > 0)
    throw new DemoError(`the refused stake should be the only movement, FAILED: ${JSON.stringify(data)}`)
  await receiver.show('transaction.failed', stake.transaction_id)
  log.happened(`the stake ${stake.transaction_id} is ${stake.status}; nothing else moved`)
}
