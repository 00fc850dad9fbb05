{{- define "palladion.name" -}}
{{- if contains "palladion" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-palladion" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "palladion.account" -}}
{{ .Values.serviceAccount.name | default (printf "%s-operator" (include "palladion.name" .)) }}
{{- end }}

{{- define "palladion.username" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "palladion.account" . }}
{{- end }}

{{- define "palladion.selector" -}}
app.kubernetes.io/name: palladion-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "palladion.labels" -}}
{{ include "palladion.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "palladion.image" -}}
{{ .image.repository }}:{{ .image.tag | default .appVersion }}
{{- end }}

{{- /* A policy binds nobody in the namespaces of another installation. */}}
{{- define "palladion.watched" -}}
{{- with .Values.watchNamespaces -}}
matchResources:
  namespaceSelector:
    matchExpressions:
      - { key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }} }
{{- end }}
{{- end }}
