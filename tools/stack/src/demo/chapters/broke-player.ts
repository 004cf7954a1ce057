import { failure, movementAnswer, page } from '../demo-answers.ts'
import { exchange } from '../../exchange.ts'
import { DemoError, expectAnswer } from '../demo-http.ts'
import type { Chapter } from '../tour.ts'

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
