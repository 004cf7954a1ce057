import type { Bus } from '@pitboss/bus/connect-bus'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { type Command, Option } from 'commander'
import { type OpsRun, runOps, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { textTable } from '../output.ts'

type Service = keyof typeof opsRewriteSeals
const services: readonly Service[] = ['auth', 'rounds', 'wallet-bridge', 'webhooks']

type KeyRow = {
  service: Service
  key: string
  /** MISSING: values need it and the service does not have it. */
  state: 'CURRENT' | 'FORMER' | 'MISSING'
  values: number
}
type Counted = { keys: KeyRow[]; rewritten: number; damaged: number }

/** `seal status|rewrite`: the master keys under which services have sealed their secrets. Source: ours. */
export function sealCommands(program: Command): void {
  const noun = program.command('seal').description('stored secrets and the master keys that seal them')
  const oneService = () => new Option('--service <service>', 'of this service alone').choices(services)
  withCommonFlags(noun.command('status').description('values by the key under which they are sealed'))
    .addOption(oneService())
    .action(async ({ service }, command: Command) => {
      await runOps(command, async (run) => {
        const asked = service === undefined ? services : [service]
        const order = { ...run.order, dryRun: true }
        const counted = await countAll({ ...run, order }, asked)
        run.show(counted, textOf(counted))
      })
    })
  withChangeFlags(
    noun
      .command('rewrite')
      .description('seal everything under the current key; may be run again at any time'),
  )
    .addOption(oneService())
    .action(async ({ service }, command: Command) => {
      await runOps(command, async (run) => {
        const asked = service === undefined ? services : [service]
        await run.confirm(`Seal everything of ${asked.join(', ')} under the current master key?`)
        const counted = await countAll(run, asked)
        const { rewritten, damaged } = counted
        await run.audit('seal.rewrite', service ?? null, { rewritten, damaged })
        run.show(counted, `${textOf(counted)}\n\n${rewritten} values written anew`)
      })
    })
}

async function countAll(run: OpsRun, asked: readonly Service[]): Promise<Counted> {
  const all: Counted = { keys: [], rewritten: 0, damaged: 0 }
  for (const service of asked) {
    const { keys, rewritten, damaged } = await countService(run, service)
    all.keys.push(...keys)
    all.rewritten += rewritten
    all.damaged += damaged
  }
  return all
}

/** Walks all pages of a service. A walk that is cut off is begun again and finds what is left. */
async function countService({ bus, order, follow }: OpsRun, service: Service): Promise<Counted> {
  const first = await pageOf(bus, service, { order, after: null })
  return follow(first.documents, async (progress) => {
    const values = new Map<string, number>(first.keys.map((key) => [key, 0]))
    const sum = { looked: 0, rewritten: 0, damaged: 0 }
    let page: typeof first | null = first
    while (page !== null) {
      for (const [key, count] of Object.entries(page.values)) values.set(key, (values.get(key) ?? 0) + count)
      sum.looked += page.looked
      sum.rewritten += page.rewritten
      sum.damaged += page.damaged
      progress.tell(sum.looked, `${service}: ${sum.looked} documents, ${sum.rewritten} values written anew`)
      page = page.next === null ? null : await pageOf(bus, service, { order, after: page.next })
    }
    const stateOf = (key: string): KeyRow['state'] =>
      key === first.keys[0] ? 'CURRENT' : first.keys.includes(key) ? 'FORMER' : 'MISSING'
    const keys = [...values].map(([key, count]) => ({ service, key, state: stateOf(key), values: count }))
    return { keys, rewritten: sum.rewritten, damaged: sum.damaged }
  })
}

function pageOf(bus: Bus, service: Service, request: { order: OpsRun['order']; after: string | null }) {
  return bus.call(opsRewriteSeals[service], request)
}

function textOf({ keys, damaged }: Counted): string {
  const droppable = keys.filter(({ state, values }) => state === 'FORMER' && values === 0)
  const missing = keys.filter(({ state }) => state === 'MISSING')
  return [
    textTable(keys),
    ...droppable.map(({ service, key }) => `${key} may be dropped from ${service}`),
    ...missing.map(({ service, key, values }) => `${service} lacks ${key}: ${values} values do not open`),
    ...(damaged === 0 ? [] : [`${damaged} values are damaged; the services' logs name them (seal.damaged)`]),
  ].join('\n')
}
