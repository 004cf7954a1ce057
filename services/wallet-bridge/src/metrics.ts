import { registerCounter, registerGauge, registerHistogram } from '@pitboss/runtime/register-metrics'
import { Gauge, type Registry } from 'prom-client'
import type { WalletOperation } from './rules/movement.ts'
import type { MovementStore } from './storage/movement-store.ts'
import type { PendingFigures } from './storage/movement-lists.ts'

export type WalletMetrics = ReturnType<typeof createWalletMetrics>

const operations: readonly WalletOperation[] = ['debit', 'credit', 'rollback']
const bucketsS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

export function createWalletMetrics(registry: Registry) {
  const ofCalls = 'Calls to wallets by operation and by how the answer was judged'
  const calls = registerCounter(registry, 'pitboss_wallet_calls_total', ofCalls, ['operation', 'judged'])
  const took = 'Time that wallets take to answer'
  const latency = registerHistogram(registry, 'pitboss_wallet_call_seconds', took, bucketsS, 'operation')
  const ofEnds = 'Movements by type and outcome, counted by the process whose write gave it'
  const outcomes = registerCounter(registry, 'pitboss_movements_ended_total', ofEnds, ['type', 'outcome'])
  const unresolved = new Gauge({
    name: 'pitboss_movements_pending',
    help: 'Movements without a certain outcome, by least age',
    ...{ labelNames: ['older_than'] as const, registers: [registry] },
  })
  let oldestS = 0
  const ofAge = 'Age of the oldest movement without a certain outcome'
  registerGauge(registry, 'pitboss_movements_oldest_pending_seconds', ofAge, () => oldestS)
  const [name, help] = [
    'pitboss_wallet_first_try_duplicates_total',
    'Answers DUPLICATE to the first try of a movement',
  ]
  const repeated = registerCounter(registry, name, help, 'operation', operations)
  return {
    /** A wallet has answered the first try of a movement as one that it did before. */
    repeatedAtFirstTry: (operation: WalletOperation) => repeated.inc({ operation }),
    ended: ({ type, status }: { type: string; status: string }) => outcomes.inc({ type, outcome: status }),
    callEnded(operation: string, judged: string, latencyMs: number) {
      calls.inc({ operation, judged })
      latency.observe({ operation }, latencyMs / 1000)
    },
    pending({ all, over5m, over1h, over24h }: PendingFigures, oldestAgeS: number) {
      unresolved.set({ older_than: '0s' }, all)
      unresolved.set({ older_than: '5m' }, over5m)
      unresolved.set({ older_than: '1h' }, over1h)
      unresolved.set({ older_than: '24h' }, over24h)
      oldestS = oldestAgeS
    },
  }
}

export function registerBreakers(registry: Registry, breakers: { open(): readonly string[] }): void {
  const help = 'Wallets that get no new stakes because they do not answer, as this process sees it'
  registerGauge(registry, 'pitboss_wallet_breakers_open', help, () => breakers.open().length)
}

type DueLags = { dueLags(): Readonly<Record<string, number>> }

export function registerDueLags(registry: Registry, resolver: DueLags): void {
  new Gauge({
    name: 'pitboss_movement_due_lag_seconds',
    help: 'For how long the movement that is longest due has not been taken, by how its wallet stands, as this process sees it',
    labelNames: ['wallets'] as const,
    registers: [registry],
    collect() {
      for (const [wallets, ms] of Object.entries(resolver.dueLags())) this.set({ wallets }, ms / 1000)
    },
  })
}

/** Counts each movement that a write of this store ends, and those stored as ended. */
export function countEnds<Store extends Pick<MovementStore, 'insert' | 'write'>>(
  store: Store,
  { ended }: Pick<WalletMetrics, 'ended'>,
): Store {
  return {
    ...store,
    async insert(document, options) {
      const inserted = await store.insert(document, options)
      const isStored = typeof inserted !== 'string' && !('refused' in inserted)
      if (isStored && inserted.status !== 'PENDING') ended(inserted)
      return inserted
    },
    async write(document, step) {
      const written = await store.write(document, step)
      if (written === null || written === 'round-busy') return written
      if (written.status !== document.status) ended(written)
      const { also = null } = step
      if (also !== null && also.state.status !== also.document.status)
        ended({ ...also.document, ...also.state })
      return written
    },
  }
}
