import { fileURLToPath } from 'node:url'
import { build, type InlineConfig } from 'vite'

const web = fileURLToPath(new URL('./', import.meta.url))

/** Each part is served below its own path and is built into a folder of its own, `dist/<part>`. */
const parts = [
  { name: 'play', base: '/play/', pages: ['dice', 'mines', 'spin-bottle', 'index'] },
  { name: 'verify', base: '/v1/public/verify/', pages: ['index'] },
]

for (const part of parts) await build(configOf(part))

/**
 * Scripts and styles in files of their own, nothing inline: the pages are served under a strict content
 * security policy.
 */
function configOf({ name, base, pages }: { name: string; base: string; pages: string[] }): InlineConfig {
  return {
    root: `${web}${name}`,
    base,
    configFile: false,
    envDir: false,
    publicDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: `${web}dist/${name}`,
      emptyOutDir: true,
      target: 'es2022',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { input: pages.map((page) => `${web}${name}/${page}.html`) },
    },
  }
}
