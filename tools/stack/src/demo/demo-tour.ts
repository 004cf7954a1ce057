import { playedBrand, secondPerson, stoppedPlayers } from './chapters/account.ts'
import { backfill, failingReceiver, secretRotation, createTourEndpoint } from './chapters/webhooks.ts'
import { brokePlayer, slowWallet } from './chapters/wallet.ts'
import { consumerRewind, verifyCommand } from './chapters/commands.ts'
import { flagsAndGrants, ledgerComparison, walletCertification } from './chapters/desk.ts'
import { dashboardKey } from './chapters/dashboard-key.ts'
import { freeBet, instantGames, minesGame } from './chapters/games.ts'
import { polledHistory, serverToken } from './chapters/operator-server.ts'
import type { DemoFile } from '../demo-file.ts'
import { DemoError } from './answers.ts'
import type { DemoLog } from './demo-log.ts'
import { createTour, type Tour } from './tour.ts'

/**
 * The guided tour: every promise shown on a running stack. What it changed for its own purposes (faults,
 * behaviour, secrets, endpoint, key) is undone at the end, also when it stops early.
 * @throws DemoError where something did not happen as it should
 */
export async function runTour(
  demo: DemoFile,
  dataDir: string,
  log: DemoLog,
  signal: AbortSignal,
): Promise<void> {
  const { tour, undo } = await createTour(demo, dataDir, log)
  const failures: unknown[] = []
  try {
    await tellChapters(tour, signal)
  } catch (error) {
    failures.push(error)
  }
  log.end()
  for (const step of undo.toReversed()) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  const [first, ...others] = failures
  if (others.length > 0) throw new DemoError(failures.map(messageOf).join('; then: '))
  if (first !== undefined) throw first
}

async function tellChapters(tour: Tour, signal: AbortSignal): Promise<void> {
  const tell = async (chapter: (tour: Tour) => Promise<void>) => {
    if (signal.aborted) throw new DemoError('it was interrupted')
    await chapter(tour)
  }
  const play = [serverToken, instantGames, minesGame, freeBet, slowWallet, polledHistory]
  for (const chapter of [...play, brokePlayer, verifyCommand, dashboardKey]) await tell(chapter)
  await tell(async () => {
    const endpoint = await createTourEndpoint(tour)
    for (const chapter of [failingReceiver, secretRotation, backfill])
      await tell(() => chapter(tour, endpoint))
  })
  await tell(consumerRewind)
  const desk = [flagsAndGrants, ledgerComparison, walletCertification]
  const account = [secondPerson, stoppedPlayers, playedBrand]
  for (const chapter of [...desk, ...account]) await tell(chapter)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
