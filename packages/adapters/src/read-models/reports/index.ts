export { queuesIn, readReport, type ReportAnswer, type ReportRefusal } from './read-report.js'
export { ReportReader } from './reader.js'
export { formats, readReportRequest, type ReportFormat, type ReportParameters, type ReportRequest, topMax } from './request.js'
