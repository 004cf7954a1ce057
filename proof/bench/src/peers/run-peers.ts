import type { Cleanup } from '../harness/cleanup.ts'
import type { Measured } from '../harness/measured.ts'
import type { PairPlan } from '../harness/run-pairs.ts'
import { runParts } from '../harness/run-parts.ts'
import { installPeers } from './install-peers.ts'
import { measureLedger } from './measure-ledger.ts'
import { measureSender } from './measure-sender.ts'

/** Parts of the benchmark, each with engines of its own. */
export const peerParts = ['ledger', 'sender'] as const
type PeerPart = (typeof peerParts)[number]

/** Measures the chosen parts beside what others use for them, on the same machine, turn by turn. */
export async function runPeers(
  { parts, plan }: { parts: readonly PeerPart[]; plan: PairPlan },
  cleanup: Cleanup,
  say: (text: string) => void,
): Promise<Measured> {
  say('installing the peers')
  installPeers()
  const measures = {
    ledger: (own: Cleanup) => measureLedger(plan, own, say),
    sender: (own: Cleanup) => measureSender(plan.pairs, own, say),
  }
  const { results, text } = await runParts(parts, measures, cleanup)
  return { result: results, text }
}
