import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { clauses } from '@pitboss/contracts/compliance'
import { jurisdictionName, profileOf } from '@pitboss/contracts/jurisdictions'
import t from 'tap'
import { renderCompliance } from '../src/render-compliance.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const read = (file: string) => readFileSync(join(root, file), 'utf8')

t.test('every clause has a place that enforces it and tests that exist', (t) => {
  for (const { clause, enforcedAt, tests } of clauses) {
    t.ok(enforcedAt.length > 0 && tests.length > 0, clause)
    for (const file of enforcedAt) t.ok(existsSync(join(root, file)), `${clause}: ${file}`)
    for (const { file, name } of tests) t.ok(read(file).includes(`t.test('${name}'`), `${clause}: ${name}`)
  }
  t.end()
})

t.test('a rule is set only for a jurisdiction whose clauses name it', (t) => {
  for (const jurisdiction of jurisdictionName.options) {
    const { startGapS, realityCheckS, showsSpend, stakeCaps } = profileOf({ jurisdiction })
    const named = clauses.filter((one) => one.jurisdiction === jurisdiction).map(({ clause }) => clause)
    t.equal(startGapS !== null, named.includes('RTS 14G'), `${jurisdiction}: pace`)
    t.equal(realityCheckS !== null, named.includes('RTS 13'), `${jurisdiction}: reality check`)
    t.equal(showsSpend, named.includes('RTS, changes of January 2025'), `${jurisdiction}: figures`)
    const isCapped = named.includes('Operating Licence Conditions Regulations 2007, 5(2)')
    t.equal(Object.keys(stakeCaps).length > 0, isCapped, `${jurisdiction}: caps`)
  }
  t.end()
})

t.test('the page is the one that the clauses give, and never promises compliance', (t) => {
  const page = read('docs/compliance.md')
  t.equal(page, renderCompliance())
  t.match(page, 'enforced and tested')
  t.notMatch(page, /\bcompliant\b/i)
  t.end()
})
