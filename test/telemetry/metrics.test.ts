/** The point of this file: /metrics follows Prometheus' conventions, its reference names all of it, and whatever the ready files show or alert on is there. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root, serverOfFile } from '../cli/program.js'
import { goesWithout, promtool } from '../support/needs.js'

const server = serverOfFile()
const withoutPromtool = goesWithout(promtool)
const rulesFolder = join(root, 'ops/prometheus')

/** What promtool says; '' if it is content. */
const complaintsOf = (args: ReadonlyArray<string>, input = '', cwd = root): string => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, cwd, encoding: 'utf8' })
  return status === 0 ? stderr : `${stdout}${stderr}` || `exit code ${status}`
}

const scrape = async (): Promise<string> => {
  await server.daybook(['enqueue', 'mail', '--id', 'mail-1'])
  await server.daybook(['claim', '--agent', 'agent-1'])
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.env['DAYBOOK_TOKEN']}` } })
  return answer.text()
}

/** Name and type of each metric. */
const typesIn = (text: string): ReadonlyArray<string> => [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => `${name} ${type}`)
/** The names of all time series that a server can have. */
const seriesIn = (text: string): ReadonlySet<string> =>
  new Set(typesIn(text).flatMap((each) => {
    const [name = '', type] = each.split(' ')
    return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
  }))
const namesIn = (expression: string): ReadonlyArray<string> => expression.match(/daybook_[a-z0-9_]+/g) ?? []

interface Documented {
  readonly name: string
  readonly type: string
  readonly labels: ReadonlySet<string>
}
const documented = (): ReadonlyArray<Documented> =>
  [...readFileSync(join(root, 'docs/metrics.md'), 'utf8').matchAll(/^\| `(daybook_\w+)` \| (\w+) \| (.*?) \| .+ \|$/gm)].map(([, name = '', type = '', labels = '']) => ({
    name, type, labels: new Set(labels.match(/\w+/g)),
  }))

describe('/metrics', () => {
  test.skipIf(withoutPromtool)('promtool finds nothing, and would find a gauge that is called a total (teeth)', async () => {
    const text = await scrape()
    expect(complaintsOf(['check', 'metrics'], text)).toBe('')
    expect(complaintsOf(['check', 'metrics'], `${text}\n# HELP daybook_wrong_total Wrong.\n# TYPE daybook_wrong_total gauge\ndaybook_wrong_total 1\n`)).toContain('daybook_wrong_total')
  })

  test('is what docs/metrics.md describes: names, types and labels', async () => {
    const text = await scrape()
    const all = documented()
    expect(all.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([...typesIn(text)].sort())
    for (const { name, labels } of all) {
      for (const [, given = ''] of text.matchAll(new RegExp(`^${name}(?:_bucket|_sum|_count)?\\{(.*)\\} `, 'gm'))) {
        const others = [...given.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le' && !labels.has(label))
        expect([name, others]).toEqual([name, []])
      }
    }
  })

  test('has no ids: of tasks, agents, tokens or requests', async () => {
    expect(await scrape()).not.toMatch(/mail-1|agent-1|[0-9a-f]{8}-[0-9a-f]{4}/)
  })

  test('counts appends by outcome', async () => {
    expect(await scrape()).toMatch(/^daybook_append_seconds_count\{outcome="ok"\} [1-9]/m)
  })
})

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary?: string; readonly runbook?: string }
}
const rules = (): ReadonlyArray<Rule> =>
  (parse(readFileSync(join(rulesFolder, 'alerts.yml'), 'utf8')) as { readonly groups: ReadonlyArray<{ readonly rules: ReadonlyArray<Rule> }> }).groups.flatMap((group) => group.rules)

describe('ops/prometheus/alerts.yml', () => {
  test.skipIf(withoutPromtool)('promtool accepts the rules, and each fires and is quiet when it should', () => {
    expect(complaintsOf(['check', 'rules', 'alerts.yml'], '', rulesFolder)).toBe('')
    expect(complaintsOf(['test', 'rules', 'alerts.test.yml'], '', rulesFolder)).toBe('')
  })

  test('each alert has a severity, a summary and what to do, and is tried both ways', () => {
    const { tests } = parse(readFileSync(join(rulesFolder, 'alerts.test.yml'), 'utf8')) as {
      readonly tests: ReadonlyArray<{ readonly alert_rule_test: ReadonlyArray<{ readonly alertname: string; readonly exp_alerts: ReadonlyArray<unknown> }> }>
    }
    const tried = tests.flatMap(({ alert_rule_test: cases }) => cases.map(({ alertname, exp_alerts: fired }) => `${alertname} ${fired.length > 0 ? 'fires' : 'is quiet'}`))
    for (const { alert, labels, annotations } of rules()) {
      expect(['page', 'ticket']).toContain(labels.severity)
      expect(Object.keys(annotations).sort()).toEqual(['runbook', 'summary'])
      expect(tried).toEqual(expect.arrayContaining([`${alert} fires`, `${alert} is quiet`]))
    }
  })

  test('names only metrics that there are', async () => {
    const series = seriesIn(await scrape())
    expect(rules().flatMap(({ expr }) => namesIn(expr)).filter((name) => !series.has(name))).toEqual([])
  })
})

describe('ops/grafana/daybook.json', () => {
  const text = readFileSync(join(root, 'ops/grafana/daybook.json'), 'utf8')
  const dashboard = JSON.parse(text) as {
    readonly panels: ReadonlyArray<{ readonly id: number; readonly type: string; readonly title: string; readonly targets?: ReadonlyArray<{ readonly expr: string }> }>
    readonly templating: { readonly list: ReadonlyArray<{ readonly name: string }> }
  }
  const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  test('names only metrics that there are', async () => {
    const series = seriesIn(await scrape())
    expect(namesIn(text).filter((name) => !series.has(name))).toEqual([])
    expect(expressions.length).toBeGreaterThan(25)
  })

  test('can be narrowed to servers and queues, in every panel', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance', 'queue'])
    expect(expressions.filter((expr) => !expr.includes('$instance'))).toEqual([])
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  })

  test.skipIf(withoutPromtool)('each expression is PromQL', () => {
    // What Grafana fills in.
    const filled = expressions.map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$(?:queue|instance)/g, '.*'))
    const asRules = { groups: [{ name: 'panels', rules: filled.map((expr, i) => ({ record: `panel:${i}`, expr })) }] }
    const file = join(server.dir, 'panels.json')
    writeFileSync(file, JSON.stringify(asRules))
    expect(complaintsOf(['check', 'rules', '--lint=none', file])).toBe('')
  })
})
