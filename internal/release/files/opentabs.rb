class Opentabs < Formula
  desc "Let AI agents call functions in the web pages you are logged in to"
  homepage "{{.URL}}"
  version "{{.Version}}"
  license "MIT"
{{range $system, $name := .BrewSystems}}
  on_{{$name}} do
{{- range $arch, $brew := $.BrewProcessors}}
    on_{{$brew}} do
      url "{{$.URL}}/{{index $.Archives $system $arch}}"
      sha256 "{{index $.Hashes $system $arch}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "opentabs"
    man1.install Dir["man/man1/*"]
    generate_completions_from_executable(bin/"opentabs", "completion")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/opentabs --version")
  end
end
