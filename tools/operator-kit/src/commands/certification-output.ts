import { writeFile } from 'node:fs/promises'
import { shown, shownJson } from '@pitboss/contracts/acting-characters'
import type { CaseResult } from '@pitboss/contracts/certification/run-cases'
import pc from 'picocolors'
import type { CertificationReport } from '../certify/run-cases.ts'

export type CertificationOutput = { json: boolean; junit?: string | undefined }

/**
 * Runs a certification and writes its report: readable lines as cases end, or JSON at the end, and JUnit XML
 * to a file.
 * @returns the exit code: 0 certified, 1 not
 */
export async function reportCertification(
  { json, junit }: CertificationOutput,
  certify: (onResult: (result: CaseResult) => void) => Promise<CertificationReport>,
): Promise<number> {
  // Before minutes of work, not after them.
  if (junit !== undefined) await writeFile(junit, '')
  let group = ''
  const report = await certify((result) => {
    if (json) return
    if (result.group !== group) process.stdout.write(`\n${result.group}\n`)
    group = result.group
    process.stdout.write(`${caseText(result)}\n`)
  })
  if (junit !== undefined) await writeFile(junit, junitText(report))
  process.stdout.write(json ? `${shownJson(report, 2)}\n` : `${summaryText(report)}\n`)
  return report.certified ? 0 : 1
}

/** One line for a case, with what went wrong and a hint under it. */
function caseText(result: CaseResult): string {
  const mark = { passed: pc.green('✓'), failed: pc.red('✗'), skipped: pc.dim('–') }[result.outcome]
  const lines = [`${mark} ${result.title} ${pc.dim(`${result.id}, ${result.duration_ms} ms`)}`]
  const message = result.message === null ? null : shown(result.message)
  if (message !== null) lines.push(`    ${result.outcome === 'failed' ? pc.red(message) : message}`)
  if (result.hint !== null) lines.push(`    ${pc.dim('Hint:')} ${result.hint}`)
  return lines.join('\n')
}

/** The last lines of a readable report. */
function summaryText({ target, certified, reason, ...report }: CertificationReport): string {
  const { passed, failed, skipped } = report
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
  const verdict = certified ? pc.green('certified') : pc.red('not certified')
  return `${reason === null ? '' : `\n${shown(reason)}`}\n${target}: ${verdict} (${counts})`
}

/** The report as JUnit XML for build servers. */
function junitText(report: CertificationReport): string {
  const cases = report.cases.map((one) => {
    const head = `    <testcase classname=${attribute(one.group)} name=${attribute(one.title)} time="${one.duration_ms / 1000}"`
    if (one.outcome === 'passed') return `${head}/>`
    if (one.outcome === 'skipped')
      return `${head}><skipped message=${attribute(one.message ?? '')}/></testcase>`
    return `${head}><failure message=${attribute(one.message ?? '')}>${escapeXml(one.hint ?? '')}</failure></testcase>`
  })
  const seconds = report.cases.reduce((sum, { duration_ms: ms }) => sum + ms, 0) / 1000
  const counts = `tests="${report.cases.length}" failures="${report.failed}" errors="0" skipped="${report.skipped}" time="${seconds}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name=${attribute(report.suite)} timestamp=${attribute(report.started_at)} ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function attribute(text: string): string {
  return `"${escapeXml(text)}"`
}

function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\u0020-\ud7ff\ue000-\ufffd]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
