/**
 * Loaded before a worker of `npm test`, which imports one test file after the other.
 *
 * `tap` is, for each test file, the test of that file (tap-of-file.ts), so that many files share a process.
 *
 * An error outside all of a test's awaits goes to the test that runs (error-domain.ts). tap would follow
 * every promise to find the test that made it, which costs up to two thirds of the processor time of a test.
 */
const { registerHooks } = require('node:module') as typeof import('node:module')
const { pathToFileURL } = require('node:url') as typeof import('node:url')

const errorDomain = pathToFileURL(require.resolve('../error-domain.ts')).href
const tapOfFile = pathToFileURL(require.resolve('./tap-of-file.ts')).href

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'async-hook-domain') return { url: errorDomain, shortCircuit: true }
    if (specifier === 'tap' && context.parentURL?.endsWith('.test.ts'))
      return { url: `${tapOfFile}?file=${context.parentURL}`, shortCircuit: true }
    return next(specifier, context)
  },
})
