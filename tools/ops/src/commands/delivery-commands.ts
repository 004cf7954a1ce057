import { setTimeout as delay } from 'node:timers/promises'
import {
  opsListDeliveries,
  opsReplayEndpoint,
  opsRetryDelivery,
  opsShowDelivery,
  opsShowReplay,
} from '@pitboss/contracts/calls/webhooks'
import { deliveryStatus } from '@pitboss/contracts/objects/webhook'
import { type Command, Option } from 'commander'
import { onRun, withChangeFlags, withCommonFlags } from '../ops-run.ts'
import { readCount, readInstant } from '../read-flags.ts'
import { textTable } from '../output.ts'

const askEveryMs = 250

/**
 * `delivery list|why|retry` and `endpoint replay`, for every operator. Source: docs/contract.md, section 10.
 */
export function deliveryCommands(program: Command): void {
  const noun = program.command('delivery').description('webhook deliveries of every operator')
  const list = withCommonFlags(noun.command('list'))
    .option('--webhook <id>')
    .option('--event <id>')
    .addOption(new Option('--status <status>').choices(deliveryStatus.options))
    .option('--limit <count>', 'at most 1000', readCount(1000), 50)
  onRun(list, async ({ bus, show }, flags) => {
    const { data } = await bus.call(opsListDeliveries, {
      webhookId: flags.webhook ?? null,
      status: flags.status ?? null,
      eventId: flags.event ?? null,
      limit: flags.limit,
    })
    show(
      data,
      textTable(
        data.map(({ last_attempt, ...row }) => ({
          ...row,
          last: last_attempt?.http_status ?? last_attempt?.error,
        })),
      ),
    )
  })
  const why = withCommonFlags(
    noun.command('why <id>').description('why it has not gone out yet, and every attempt'),
  )
  onRun(why, async ({ bus, show }, deliveryId: string) => {
    const record = await bus.call(opsShowDelivery, { deliveryId })
    const attempts = textTable(record.attempts, ['attempt', 'sent_at', 'duration_ms', 'http_status', 'error'])
    show(record, `${record.delivery_id}  ${record.status}  ${record.waiting_for ?? ''}\n${attempts}`)
  })
  const retry = withChangeFlags(noun.command('retry <id>'))
  onRun(retry, async ({ bus, order, show, confirm }, deliveryId: string) => {
    await confirm(`Send ${deliveryId} again?`)
    const record = await bus.call(opsRetryDelivery, { order, deliveryId })
    show(record, `${record.delivery_id}  ${record.status}`)
  })

  const endpoint = program.command('endpoint').description('webhook endpoints of every operator')
  const replay = withChangeFlags(
    endpoint.command('replay <webhook>').description('send events of a period again'),
  )
    .requiredOption('--from <time>', 'first event time', readInstant)
    .requiredOption('--to <time>', 'last event time', readInstant)
    .addOption(
      new Option('--only <which>').choices(['failed', 'missing', 'all'] as const).default('missing' as const),
    )
  onRun(replay, async ({ bus, order, show, note, follow, confirm }, webhookId: string, flags) => {
    const request = { webhookId, from: flags.from, to: flags.to, only: flags.only }
    const preview = await bus.call(opsReplayEndpoint, { ...request, order: { ...order, dryRun: true } })
    note(`${preview.matched} events match`)
    if (order.dryRun) return show(preview, `${preview.matched} events would be sent`)
    await confirm(`Send them to ${webhookId}?`)
    const started = await bus.call(opsReplayEndpoint, { ...request, order })
    const job = await follow(started.matched, async (progress) => {
      let state = started
      while (state.status === 'RUNNING' && state.replay_id !== null) {
        await delay(askEveryMs)
        state = await bus.call(opsShowReplay, { replayId: state.replay_id })
        const { delivered, failed, created } = state
        progress.tell(delivered + failed, `${delivered} delivered, ${failed} failed of ${created}`)
      }
      return state
    })
    show(job, `${job.status}: ${job.delivered} delivered, ${job.failed} failed of ${job.created}`)
  })
}
