/** All pages, in the order of the navigation. To add a page: a file beside these that exports its component, and an entry here (README.md). */
import type { ComponentType } from 'preact'
import { signal } from '@preact/signals'
import { may } from '../api/session.js'
import { changesPath } from '../time/compared.js'
import type { PageParams } from './page-params.js'

export type PageComponent = ComponentType<{ readonly params: PageParams }>

export interface Page {
  readonly title: string
  /** `/q/{queue}/…` for a page of one queue. */
  readonly path: string
  /** The key after `g` that opens the page from everywhere. */
  readonly key?: string
  /** Whether the navigation lists the page. Default: yes. */
  readonly isListed?: false
  /** It can show the tasks of some tenants alone, for a token that is for tenants. */
  readonly isForTenants?: true
  /** Loads the component when the page is first opened. */
  readonly load: () => Promise<PageComponent>
}

export const pages: ReadonlyArray<Page> = [
  { title: 'Now', path: '/', key: 'n', isForTenants: true, load: async () => (await import('./now/now-page.js')).NowPage },
  { title: 'Queue', path: '/q/{queue}', key: 'q', load: async () => (await import('./queue/queue-page.js')).QueuePage },
  { title: 'Tasks', path: '/q/{queue}/tasks', key: 't', isForTenants: true, load: async () => (await import('./tasks/tasks-page.js')).TasksPage },
  { title: 'Task', path: '/q/{queue}/tasks/{id}', isListed: false, isForTenants: true, load: async () => (await import('./task/task-page.js')).TaskPage },
  { title: 'Dead letters', path: '/q/{queue}/dead-letters', key: 'd', isForTenants: true, load: async () => (await import('./dead-letters/dead-letters-page.js')).DeadLettersPage },
  { title: 'Breakers', path: '/q/{queue}/breakers', key: 'b', load: async () => (await import('./breakers/breakers-page.js')).BreakersPage },
  { title: 'Agents', path: '/q/{queue}/agents', key: 'a', load: async () => (await import('./agents/agents-page.js')).AgentsPage },
  { title: 'Tenants', path: '/q/{queue}/tenants', key: 'e', load: async () => (await import('./tenants/tenants-page.js')).TenantsPage },
  { title: 'Schedules', path: '/q/{queue}/schedules', key: 's', load: async () => (await import('./schedules/schedules-page.js')).SchedulesPage },
  { title: 'Approvals', path: '/q/{queue}/approvals', key: 'p', load: async () => (await import('./approvals/approvals-page.js')).ApprovalsPage },
  { title: 'Settings', path: '/q/{queue}/settings', key: ',', load: async () => (await import('./settings/settings-page.js')).SettingsPage },
  { title: 'Reports', path: '/q/{queue}/reports', key: 'r', load: async () => (await import('./reports/reports-page.js')).ReportsPage },
  { title: 'Who did what', path: '/q/{queue}/audit', key: 'w', load: async () => (await import('./audit/audit-page.js')).AuditPage },
  { title: 'Changes', path: changesPath, key: 'c', load: async () => (await import('./changes/changes-page.js')).ChangesPage },
  { title: 'Log', path: '/q/{queue}/log', key: 'l', load: async () => (await import('./log/log-page.js')).LogPage },
]

/** Whether the server would answer the page for the present token. */
export const canShow = ({ isForTenants }: Page): boolean => isForTenants === true || may.seeAll.value

/** Components that have been loaded, by path. */
export const loaded = signal<ReadonlyMap<string, PageComponent>>(new Map())
export const loadFailed = signal(false)

export const loadPage = async (page: Page): Promise<void> => {
  loadFailed.value = false
  try {
    const component = await page.load()
    loaded.value = new Map([...loaded.value, [page.path, component]])
  } catch {
    // The server has another version by now, or cannot be reached.
    loadFailed.value = true
  }
}
