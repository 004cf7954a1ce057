import { shown, shownInLine, shownJson } from '@pitboss/contracts/acting-characters'
import pc from 'picocolors'
import { type Comparison, compareEvents } from '../reconcile/compare-events.ts'
import { readLocalEvents } from '../reconcile/local-events.ts'
import { connectOperatorApi, openManifest } from '../reconcile/operator-api.ts'

const failedExitCode = 2

export type ReconcileOptions = {
  apiUrl: string
  key: string
  secret: string
  from: string
  to: string
  events: string
  json: boolean
}

/**
 * Compares a receiver's events with those that the service recorded, by the signed manifest, and names
 * missing and extra ones.
 * @returns the exit code: 0 the lists are equal, 1 they differ, 2 the comparison was not possible
 */
export async function reconcileCommand(options: ReconcileOptions): Promise<number> {
  const { apiUrl, key, secret, from, to, json } = options
  try {
    const local = await readLocalEvents(options.events)
    const api = await connectOperatorApi({ apiUrl, key, secret })
    const [jws, keySet] = await Promise.all([api.signedManifest(from, to), api.keySet()])
    const manifest = openManifest(jws, keySet)
    const comparison = await compareEvents(manifest, local.events, api.eventIds)
    const { operator_id: operatorId, environment } = manifest
    const about = { from: manifest.from, to: manifest.to, operator_id: operatorId, environment }
    const report = { ...about, lines_without_id: local.linesWithoutId, ...comparison }
    process.stdout.write(json ? `${shownJson(report, 2)}\n` : textOf(report))
    return comparison.complete ? 0 : 1
  } catch (error) {
    process.stderr.write(`${shown(reasonOf(error))}\n`)
    return failedExitCode
  }
}

function textOf(report: Comparison & { from: string; to: string; lines_without_id: number }): string {
  const lines = [`From ${report.from} to ${report.to}, by the signed manifest`]
  for (const { hour, recorded, local, missing, extra, proven_by: provenBy } of report.hours) {
    const same = missing.length + extra.length === 0
    const how = provenBy === 'manifest' ? 'hash fits' : 'events read'
    lines.push(
      `${same ? pc.green('✓') : pc.red('✗')} ${hour}  ${recorded} recorded, ${local} here, ${pc.dim(how)}`,
    )
    lines.push(...missing.map((id) => `    ${pc.red('missing')} ${shownInLine(id)}`))
    lines.push(...extra.map((id) => `    ${pc.red('extra')}   ${shownInLine(id)}`))
  }
  if (report.lines_without_id > 0) lines.push(`${report.lines_without_id} lines of the list name no event`)
  const verdict = `${report.recorded} recorded, ${report.missing} missing, ${report.extra} extra.`
  lines.push(report.complete ? pc.green(`Complete: ${verdict}`) : pc.red(`NOT complete: ${verdict}`))
  return `${lines.join('\n')}\n`
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
