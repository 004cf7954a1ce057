import type { Board, Panel } from './panel.ts'

const columns = 24
const panelWidth = 8
const panelHeight = 8
const datasource = { type: 'prometheus', uid: '${datasource}' }

/** A board as Grafana imports it: Grafana 11 or newer, any Prometheus, one namespace at a time. */
export function renderBoard({ name, title, rows }: Board): string {
  let nextId = 1
  let y = 0
  const panels: object[] = []
  for (const row of rows) {
    panels.push({
      ...{ id: nextId++, type: 'row', title: row.title, collapsed: false, panels: [] },
      gridPos: { h: 1, w: columns, x: 0, y },
    })
    y += 1
    for (const [index, panel] of row.panels.entries()) {
      const x = (index * panelWidth) % columns
      if (index > 0 && x === 0) y += panelHeight
      panels.push(renderPanel(panel, nextId++, { h: panelHeight, w: panelWidth, x, y }))
    }
    y += panelHeight
  }
  const board = {
    uid: `pitboss-${name}`,
    title,
    tags: ['pitboss'],
    schemaVersion: 39,
    editable: false,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'utc',
    graphTooltip: 1,
    templating: { list: [datasourceVariable, namespaceVariable] },
    panels,
  }
  return `${JSON.stringify(board, null, 2)}\n`
}

const datasourceVariable = {
  ...{ name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus' },
  current: {},
}
const namespaceVariable = {
  ...{ name: 'namespace', label: 'Namespace', type: 'query', datasource, refresh: 2, current: {} },
  query: 'label_values(pitboss_http_in_flight, namespace)',
}

function renderPanel({ title, says, unit, queries, limit }: Panel, id: number, gridPos: object): object {
  const steps = [
    { color: 'green', value: null },
    ...(limit === undefined ? [] : [{ color: 'red', value: limit }]),
  ]
  return {
    ...{ id, type: 'timeseries', title, description: says, datasource, gridPos },
    fieldConfig: {
      defaults: {
        unit,
        min: 0,
        thresholds: { mode: 'absolute', steps },
        custom: { lineWidth: 2, thresholdsStyle: { mode: limit === undefined ? 'off' : 'line' } },
      },
      overrides: [],
    },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: queries.map(({ expr, legend }, index) => ({
      ...{ refId: String.fromCodePoint(65 + index), expr, legendFormat: legend, range: true, datasource },
    })),
  }
}
